(define (domain lamps)
  (:predicates (lit ?lamp) (broken ?lamp) (reachable ?lamp))
  (:action switch-on
    :parameters (?lamp ?person)
    :precondition (and (reachable ?lamp) (not (broken ?lamp)))
    :effect (lit ?lamp)))
