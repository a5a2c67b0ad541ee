(define (problem market-03)
  (:domain market)
  (:objects
    stall1 stall2 stall3 - place
    cheese flour rice - ware)
  (:init)
  (:goal (and)))
