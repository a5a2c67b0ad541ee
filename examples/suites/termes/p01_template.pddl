(define (problem termes-01)
  (:domain termes)
  (:objects
    cell0-0 cell0-1 cell0-2 cell1-0 cell1-1 cell1-2 - cell
    level0 level1 level2 - level)
  (:init)
  (:goal (and)))
