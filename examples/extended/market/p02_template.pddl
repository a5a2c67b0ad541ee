(define (problem market-02)
  (:domain market)
  (:objects
    stall1 stall2 stall3 - place
    cheese honey - ware)
  (:init)
  (:goal (and)))
