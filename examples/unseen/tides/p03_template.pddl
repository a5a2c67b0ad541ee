(define (problem tides-03)
  (:domain tides)
  (:objects
    ferry1 ferry2 - ferry
    car1 car2 car3 - car
    port1 port2 port3 port4 - port
    low rising high falling - phase)
  (:init)
  (:goal (and)))
