(define (problem miconic-04)
  (:domain miconic)
  (:objects
    floor1 floor2 floor3 floor4 floor5 - floor
    passenger1 passenger2 passenger3 passenger4 passenger5 - passenger)
  (:init)
  (:goal (and)))
