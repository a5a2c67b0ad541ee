(define (problem miconic-01)
  (:domain miconic)
  (:objects
    floor1 floor2 floor3 floor4 - floor
    passenger1 passenger2 - passenger)
  (:init
    (lift-at floor4)
    (above floor2 floor1)
    (above floor3 floor1)
    (above floor4 floor1)
    (above floor3 floor2)
    (above floor4 floor2)
    (above floor4 floor3)
    (waits-at passenger1 floor4)
    (wants-to passenger1 floor1)
    (waits-at passenger2 floor3)
    (wants-to passenger2 floor2))
  (:goal (and (arrived passenger1) (arrived passenger2))))
