(define (problem driverlog-example)
  (:domain driverlog)
  (:objects
    town1 town2 crossing1 - place
    driver1 - driver
    truck1 - truck
    package1 - package)
  (:init)
  (:goal (and)))
