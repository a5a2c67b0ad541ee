(define (problem blocks-02)
  (:domain blocks)
  (:objects
    block1 block2 block3 block4 - block)
  (:init
    (arm-free)
    (on-table block1)
    (uncovered block1)
    (on-table block2)
    (uncovered block3)
    (on-table block4)
    (uncovered block4)
    (stands-on block3 block2))
  (:goal (and (stands-on block3 block2) (stands-on block1 block3))))
