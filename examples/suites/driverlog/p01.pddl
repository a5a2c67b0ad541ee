(define (problem driverlog-01)
  (:domain driverlog)
  (:objects
    town1 town2 town3 crossing1 - place
    driver1 - driver
    truck1 - truck
    package1 - package)
  (:init
    (road town1 town2)
    (road town2 town1)
    (road town1 town3)
    (road town3 town1)
    (footpath town1 town2)
    (footpath town2 town1)
    (footpath town2 town3)
    (footpath town3 town2)
    (footpath town3 crossing1)
    (footpath crossing1 town3)
    (driver-at driver1 town1)
    (truck-at truck1 town2)
    (unmanned truck1)
    (package-at package1 town3))
  (:goal (and (package-at package1 town1))))
