(define (domain kiosk)
  (:requirements :typing :negative-preconditions :numeric-fluents)
  (:types thing)
  (:predicates (have ?t - thing))
  (:functions (money) (price ?t - thing))
  (:action buy
    :parameters (?t - thing)
    :precondition (and (not (have ?t)) (>= (money) (price ?t)))
    :effect (and (have ?t) (decrease (money) (price ?t))))
  (:action earn
    :parameters ()
    :effect (increase (money) 2)))
