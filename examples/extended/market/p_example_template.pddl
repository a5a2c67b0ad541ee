(define (problem market-example)
  (:domain market)
  (:objects
    stall1 stall2 - place
    jam - ware)
  (:init)
  (:goal (and)))
