(define (problem outing-01)
  (:domain outing)
  (:objects
    station church lake zoo harbour - place
    ticket1 - ticket)
  (:init)
  (:goal (and)))
