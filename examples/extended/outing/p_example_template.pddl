(define (problem outing-example)
  (:domain outing)
  (:objects
    station lake harbour zoo - place
    ticket1 - ticket)
  (:init)
  (:goal (and)))
