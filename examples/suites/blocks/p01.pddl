(define (problem blocks-01)
  (:domain blocks)
  (:objects
    block1 block2 block3 block4 - block)
  (:init
    (arm-free)
    (uncovered block1)
    (on-table block2)
    (uncovered block2)
    (on-table block3)
    (uncovered block3)
    (on-table block4)
    (stands-on block1 block4))
  (:goal (and (stands-on block4 block2) (stands-on block3 block4))))
