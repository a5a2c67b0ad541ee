(define (problem tyres-01)
  (:domain tyres)
  (:objects
    boot1 - boot
    hub1 - hub
    nuts1 - nuts
    old1 spare1 - wheel)
  (:init)
  (:goal (and)))
