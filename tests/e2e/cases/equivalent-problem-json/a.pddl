(define (problem one) (:domain blocks)
  (:objects a b c - block)
  (:init (arm-free) (on-table a) (stands-on b a) (uncovered b) (on-table c) (uncovered c))
  (:goal (and (stands-on c b))))
