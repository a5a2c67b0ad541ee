(define (problem oven-example)
  (:domain oven)
  (:objects
    bread quiche - dish
    gentle low - heat)
  (:init)
  (:goal (and)))
