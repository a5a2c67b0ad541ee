(define (domain token)
  (:predicates (here ?p) (next ?a ?b))
  (:action move
    :parameters (?a ?b)
    :precondition (and (here ?a) (next ?a ?b))
    :effect (and (here ?b) (not (here ?a)))))
