(define (problem termes-04)
  (:domain termes)
  (:objects
    cell0-0 cell0-1 cell0-2 cell0-3 cell1-0 cell1-1 cell1-2 cell1-3 cell2-0 cell2-1 cell2-2 cell2-3 - cell
    level0 level1 level2 level3 - level)
  (:init)
  (:goal (and)))
