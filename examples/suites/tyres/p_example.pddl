(define (problem tyres-example)
  (:domain tyres)
  (:objects
    boot1 - boot
    hub1 - hub
    nuts1 - nuts
    old1 spare1 - wheel)
  (:init
    (closed boot1)
    (in-boot wrench boot1)
    (in-boot jack boot1)
    (in-boot pump boot1)
    (on-ground hub1)
    (fastened hub1)
    (loose nuts1 hub1)
    (wheel-on old1 hub1)
    (flat old1)
    (in-boot spare1 boot1)
    (intact spare1)
    (flat spare1))
  (:goal (and (wheel-on spare1 hub1) (inflated spare1) (tight nuts1 hub1))))
