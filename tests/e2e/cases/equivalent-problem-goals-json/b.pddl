(define (problem two) (:domain blocks)
  (:objects x y z - block)
  (:init (uncovered x) (on-table x) (uncovered y) (on-table y) (uncovered z) (on-table z) (arm-free))
  (:goal (and (stands-on x y) (uncovered x))))
