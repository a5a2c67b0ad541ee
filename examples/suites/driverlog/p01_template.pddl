(define (problem driverlog-01)
  (:domain driverlog)
  (:objects
    town1 town2 town3 crossing1 - place
    driver1 - driver
    truck1 - truck
    package1 - package)
  (:init)
  (:goal (and)))
