(define (domain d) (:predicates (p ?x) (q)
 (:action a :parameters (?x :precondition (p ?x :effect (and (q) (not (p ?x)
 (:action b :parameters () :effect (q