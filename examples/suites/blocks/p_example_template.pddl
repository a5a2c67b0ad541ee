(define (problem blocks-example)
  (:domain blocks)
  (:objects
    block1 block2 block3 - block)
  (:init)
  (:goal (and)))
