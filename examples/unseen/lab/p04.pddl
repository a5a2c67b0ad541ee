(define (problem lab-04)
  (:domain lab)
  (:objects
    arm1 - arm
    plate1 plate2 plate3 - plate
    rack1 rack2 rack3 station1 station2 station3 - device
    fill shake read finished - step)
  (:init
    (free arm1)
    (after fill shake)
    (after shake read)
    (after read finished)
    (offers station1 fill)
    (offers station1 read)
    (washable station1)
    (offers station2 shake)
    (offers station2 fill)
    (washable station2)
    (offers station3 read)
    (offers station3 fill)
    (in plate1 rack1)
    (due plate1 fill)
    (hazardous plate1)
    (in plate2 rack2)
    (due plate2 fill)
    (hazardous plate2)
    (in plate3 rack3)
    (due plate3 read))
  (:goal (and
           (due plate1 finished)
           (due plate2 finished)
           (due plate3 finished)
           (in plate2 rack1)
           (in plate3 rack2))))
