(define (problem tides-example)
  (:domain tides)
  (:objects
    ferry1 - ferry
    car1 - car
    port1 port2 - port
    low rising high - phase)
  (:init)
  (:goal (and)))
