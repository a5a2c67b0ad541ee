(define (domain d)
; comment é
(:predicates (pé ?x))
(:action a :parameters (?x) :effect (pé ?x)))