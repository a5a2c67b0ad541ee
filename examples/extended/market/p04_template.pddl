(define (problem market-04)
  (:domain market)
  (:objects
    stall1 stall2 stall3 stall4 - place
    cheese jam flour - ware)
  (:init)
  (:goal (and)))
