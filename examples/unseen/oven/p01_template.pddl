(define (problem oven-01)
  (:domain oven)
  (:objects
    bread quiche roast - dish
    gentle low medium - heat)
  (:init)
  (:goal (and)))
