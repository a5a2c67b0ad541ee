(define (domain tub)
  (:requirements :strips :fluents)
  (:predicates (open))
  (:functions (level))
  (:process rise
    :parameters ()
    :precondition (open)
    :effect (increase (level) (* #t 1)))
  (:action close
    :precondition (open)
    :effect (not (open))))
