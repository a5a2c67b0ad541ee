(define (problem tides-02)
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
    (now high)
    (open port1 rising)
    (open port1 high)
    (open port2 rising)
    (open port2 high)
    (open port3 low)
    (open port3 falling)
    (route port1 port2)
    (route port2 port1)
    (route port1 port3)
    (route port3 port1)
    (moored ferry1 port1)
    (room ferry1)
    (waits car1 port2)
    (waits car2 port3))
  (:goal (and (waits car1 port3) (waits car2 port1))))
