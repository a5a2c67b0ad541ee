(define (problem driverlog-example)
  (:domain driverlog)
  (:objects
    town1 town2 crossing1 - place
    driver1 - driver
    truck1 - truck
    package1 - package)
  (:init
    (road town1 town2)
    (road town2 town1)
    (footpath town1 town2)
    (footpath town2 town1)
    (footpath town2 crossing1)
    (footpath crossing1 town2)
    (driver-at driver1 town2)
    (truck-at truck1 town1)
    (unmanned truck1)
    (package-at package1 town1))
  (:goal (and (truck-at truck1 town1) (package-at package1 town2))))
