(define (problem garden-02)
  (:domain garden)
  (:objects
    pump barrel - tap
    roses herbs - bed)
  (:init)
  (:goal (and)))
