(define (problem lab-01)
  (:domain lab)
  (:objects
    arm1 - arm
    plate1 plate2 - plate
    rack1 rack2 station1 station2 - device
    fill shake finished - step)
  (:init)
  (:goal (and)))
