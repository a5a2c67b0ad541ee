(define (problem lab-example)
  (:domain lab)
  (:objects
    arm1 - arm
    plate1 - plate
    rack1 station1 - device
    fill finished - step)
  (:init
    (free arm1)
    (after fill finished)
    (offers station1 fill)
    (washable station1)
    (in plate1 rack1)
    (due plate1 fill)
    (hazardous plate1))
  (:goal (and (due plate1 finished) (in plate1 rack1))))
