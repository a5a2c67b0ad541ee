(define (problem driverlog-02)
  (:domain driverlog)
  (:objects
    town1 town2 town3 crossing1 - place
    driver1 - driver
    truck1 - truck
    package1 package2 - package)
  (:init)
  (:goal (and)))
