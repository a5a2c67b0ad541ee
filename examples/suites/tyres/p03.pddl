(define (problem tyres-03)
  (:domain tyres)
  (:objects
    boot1 - boot
    hub1 hub2 - hub
    nuts1 - nuts
    old1 spare1 - wheel
    nuts2 - nuts
    old2 spare2 - wheel)
  (:init
    (open boot1)
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
    (flat spare1)
    (on-ground hub2)
    (fastened hub2)
    (tight nuts2 hub2)
    (wheel-on old2 hub2)
    (flat old2)
    (in-boot spare2 boot1)
    (intact spare2)
    (flat spare2))
  (:goal (and
           (wheel-on spare1 hub1)
           (inflated spare1)
           (tight nuts1 hub1)
           (wheel-on spare2 hub2)
           (inflated spare2)
           (tight nuts2 hub2)
           (in-boot old1 boot1)
           (in-boot old2 boot1)
           (in-boot wrench boot1)
           (in-boot jack boot1)
           (in-boot pump boot1)
           (closed boot1))))
