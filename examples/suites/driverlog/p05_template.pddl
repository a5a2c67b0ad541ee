(define (problem driverlog-05)
  (:domain driverlog)
  (:objects
    town1 town2 town3 town4 town5 crossing1 crossing2 - place
    driver1 driver2 - driver
    truck1 truck2 - truck
    package1 package2 package3 - package)
  (:init)
  (:goal (and)))
