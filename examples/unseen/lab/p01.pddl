(define (problem lab-01)
  (:domain lab)
  (:objects
    arm1 - arm
    plate1 plate2 - plate
    rack1 rack2 station1 station2 - device
    fill shake finished - step)
  (:init
    (free arm1)
    (after fill shake)
    (after shake finished)
    (offers station1 fill)
    (washable station1)
    (offers station2 shake)
    (washable station2)
    (in plate1 rack1)
    (due plate1 fill)
    (hazardous plate1)
    (in plate2 rack2)
    (due plate2 fill)
    (hazardous plate2))
  (:goal (and (due plate1 finished) (due plate2 finished) (in plate1 rack1) (in plate2 rack2))))
