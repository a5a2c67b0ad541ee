(define (problem storage-example)
  (:domain storage)
  (:objects
    cell1 cell2 cell3 cell4 - cell
    cart1 - cart
    box1 - box)
  (:init)
  (:goal (and)))
