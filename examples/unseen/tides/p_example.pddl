(define (problem tides-example)
  (:domain tides)
  (:objects
    ferry1 - ferry
    car1 - car
    port1 port2 - port
    low rising high - phase)
  (:init
    (then low rising)
    (then rising high)
    (then high low)
    (now high)
    (open port1 low)
    (open port1 rising)
    (open port2 high)
    (route port1 port2)
    (route port2 port1)
    (moored ferry1 port1)
    (room ferry1)
    (waits car1 port2))
  (:goal (and (waits car1 port1))))
