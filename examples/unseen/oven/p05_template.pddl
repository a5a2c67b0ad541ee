(define (problem oven-05)
  (:domain oven)
  (:objects
    bread quiche roast tart pizza scones pie - dish
    gentle low medium high - heat)
  (:init)
  (:goal (and)))
