(define (problem market-01)
  (:domain market)
  (:objects
    stall1 stall2 - place
    flour jam - ware)
  (:init)
  (:goal (and)))
