(define (problem garden-04)
  (:domain garden)
  (:objects
    spring - tap
    corn kale dill - bed)
  (:init)
  (:goal (and)))
