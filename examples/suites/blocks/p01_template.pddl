(define (problem blocks-01)
  (:domain blocks)
  (:objects
    block1 block2 block3 block4 - block)
  (:init)
  (:goal (and)))
