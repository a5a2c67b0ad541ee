(define (problem oven-04)
  (:domain oven)
  (:objects
    bread quiche roast tart pizza scones - dish
    gentle low medium high - heat)
  (:init)
  (:goal (and)))
