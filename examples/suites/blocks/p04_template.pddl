(define (problem blocks-04)
  (:domain blocks)
  (:objects
    block1 block2 block3 block4 block5 - block)
  (:init)
  (:goal (and)))
