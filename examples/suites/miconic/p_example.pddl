(define (problem miconic-example)
  (:domain miconic)
  (:objects
    floor1 floor2 floor3 - floor
    passenger1 - passenger)
  (:init
    (lift-at floor3)
    (above floor2 floor1)
    (above floor3 floor1)
    (above floor3 floor2)
    (waits-at passenger1 floor3)
    (wants-to passenger1 floor2))
  (:goal (and (arrived passenger1))))
