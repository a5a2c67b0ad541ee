(define (problem tyres-02)
  (:domain tyres)
  (:objects
    boot1 - boot
    hub1 hub2 - hub
    nuts1 - nuts
    old1 spare1 - wheel
    nuts2 - nuts
    old2 spare2 - wheel)
  (:init)
  (:goal (and)))
