(define (problem blocks-02)
  (:domain blocks)
  (:objects
    block1 block2 block3 block4 - block)
  (:init)
  (:goal (and)))
