(define (problem two) (:domain blocks)
  (:objects x y z - block)
  (:init (uncovered x) (on-table x) (uncovered y) (stands-on y z) (on-table z) (arm-fre))
  (:goal (stands-on x y)))
