(define (problem two) (:domain blocks)
  (:objects x y z - block)
  (:init (uncovered x) (on-table x) (uncovered y) (stands-on y z) (on-table z) (arm-free))
  (:goal (stands-on x y)))
