(define (problem tides-01)
  (:domain tides)
  (:objects
    ferry1 - ferry
    car1 car2 - car
    port1 port2 port3 - port
    low rising high falling - phase)
  (:init)
  (:goal (and)))
