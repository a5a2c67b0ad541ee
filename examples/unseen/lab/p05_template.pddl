(define (problem lab-05)
  (:domain lab)
  (:objects
    arm1 arm2 - arm
    plate1 plate2 plate3 plate4 - plate
    rack1 rack2 rack3 rack4 station1 station2 station3 - device
    fill shake read finished - step)
  (:init)
  (:goal (and)))
