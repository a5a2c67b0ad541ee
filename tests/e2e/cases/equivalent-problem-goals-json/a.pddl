(define (problem one) (:domain blocks)
  (:objects a b c - block)
  (:init (arm-free) (on-table a) (on-table b) (on-table c) (uncovered a) (uncovered b) (uncovered c))
  (:goal (stands-on a b)))
