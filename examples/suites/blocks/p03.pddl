(define (problem blocks-03)
  (:domain blocks)
  (:objects
    block1 block2 block3 block4 block5 - block)
  (:init
    (arm-free)
    (uncovered block1)
    (on-table block2)
    (on-table block3)
    (uncovered block5)
    (stands-on block4 block2)
    (stands-on block1 block4)
    (stands-on block5 block3))
  (:goal (and (stands-on block1 block2) (stands-on block3 block1) (stands-on block4 block3))))
