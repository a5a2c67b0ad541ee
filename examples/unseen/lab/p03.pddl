(define (problem lab-03)
  (:domain lab)
  (:objects
    arm1 - arm
    plate1 plate2 plate3 - plate
    rack1 rack2 rack3 station1 station2 - device
    fill shake finished - step)
  (:init
    (free arm1)
    (after fill shake)
    (after shake finished)
    (offers station1 fill)
    (offers station1 shake)
    (washable station1)
    (offers station2 shake)
    (washable station2)
    (contaminated station2)
    (in plate1 rack1)
    (due plate1 fill)
    (hazardous plate1)
    (in plate2 rack2)
    (due plate2 fill)
    (hazardous plate2)
    (in plate3 rack3)
    (due plate3 shake))
  (:goal (and
           (due plate1 finished)
           (due plate2 finished)
           (due plate3 finished)
           (in plate1 rack1)
           (in plate2 rack3)
           (in plate3 rack2))))
