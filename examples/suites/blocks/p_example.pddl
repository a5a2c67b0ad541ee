(define (problem blocks-example)
  (:domain blocks)
  (:objects
    block1 block2 block3 - block)
  (:init
    (arm-free)
    (uncovered block1)
    (on-table block3)
    (stands-on block2 block3)
    (stands-on block1 block2))
  (:goal (and (stands-on block3 block1))))
