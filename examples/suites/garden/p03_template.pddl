(define (problem garden-03)
  (:domain garden)
  (:objects
    tap1 - tap
    bed1 bed2 bed3 bed4 - bed)
  (:init)
  (:goal (and)))
