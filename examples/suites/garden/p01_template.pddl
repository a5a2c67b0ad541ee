(define (problem garden-01)
  (:domain garden)
  (:objects
    well - tap
    beans peas leeks - bed)
  (:init)
  (:goal (and)))
