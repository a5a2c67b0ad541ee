(define (problem lab-03)
  (:domain lab)
  (:objects
    arm1 - arm
    plate1 plate2 plate3 - plate
    rack1 rack2 rack3 station1 station2 - device
    fill shake finished - step)
  (:init)
  (:goal (and)))
