(define (problem garden-example)
  (:domain garden)
  (:objects
    tap1 - tap
    mint - bed)
  (:init)
  (:goal (and)))
