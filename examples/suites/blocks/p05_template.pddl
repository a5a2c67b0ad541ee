(define (problem blocks-05)
  (:domain blocks)
  (:objects
    block1 block2 block3 block4 block5 block6 - block)
  (:init)
  (:goal (and)))
