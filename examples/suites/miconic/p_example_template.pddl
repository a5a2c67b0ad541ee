(define (problem miconic-example)
  (:domain miconic)
  (:objects
    floor1 floor2 floor3 - floor
    passenger1 - passenger)
  (:init)
  (:goal (and)))
