(define (problem oven-02)
  (:domain oven)
  (:objects
    bread quiche roast tart - dish
    gentle low medium - heat)
  (:init)
  (:goal (and)))
