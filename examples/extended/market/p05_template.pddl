(define (problem market-05)
  (:domain market)
  (:objects
    stall1 stall2 stall3 stall4 - place
    flour rice cheese honey - ware)
  (:init)
  (:goal (and)))
