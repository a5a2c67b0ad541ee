(define (domain shop)
  (:requirements :durative-actions :timed-initial-literals)
  (:predicates (open) (served) (paid))
  (:durative-action serve
    :parameters ()
    :duration (= ?duration 1)
    :condition (at start (open))
    :effect (at end (served)))
  (:action pay
    :parameters ()
    :precondition (open)
    :effect (paid)))
