(define (problem termes-example)
  (:domain termes)
  (:objects
    cell0-0 cell0-1 cell1-0 cell1-1 - cell
    level0 level1 - level)
  (:init)
  (:goal (and)))
