(define (problem tides-01)
  (:domain tides)
  (:objects
    ferry1 - ferry
    car1 car2 - car
    port1 port2 port3 - port
    low rising high falling - phase)
  (:init
    (then low rising)
    (then rising high)
    (then high falling)
    (then falling low)
    (now rising)
    (open port1 low)
    (open port1 rising)
    (open port2 rising)
    (open port2 falling)
    (open port3 low)
    (open port3 high)
    (route port1 port2)
    (route port2 port1)
    (route port1 port3)
    (route port3 port1)
    (moored ferry1 port2)
    (room ferry1)
    (waits car1 port3)
    (waits car2 port2))
  (:goal (and (waits car1 port1) (waits car2 port1))))
