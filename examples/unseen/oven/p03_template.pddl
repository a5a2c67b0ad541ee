(define (problem oven-03)
  (:domain oven)
  (:objects
    bread quiche roast tart pizza - dish
    gentle low medium - heat)
  (:init)
  (:goal (and)))
