(define (problem tyres-04)
  (:domain tyres)
  (:objects
    boot1 - boot
    hub1 hub2 hub3 - hub
    nuts1 - nuts
    old1 spare1 - wheel
    nuts2 - nuts
    old2 spare2 - wheel
    nuts3 - nuts
    old3 spare3 - wheel)
  (:init)
  (:goal (and)))
