(define (problem lab-example)
  (:domain lab)
  (:objects
    arm1 - arm
    plate1 - plate
    rack1 station1 - device
    fill finished - step)
  (:init)
  (:goal (and)))
