(define (problem miconic-02)
  (:domain miconic)
  (:objects
    floor1 floor2 floor3 floor4 - floor
    passenger1 passenger2 passenger3 - passenger)
  (:init)
  (:goal (and)))
