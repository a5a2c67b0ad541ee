(define (problem storage-02)
  (:domain storage)
  (:objects
    cell1 cell2 cell3 cell4 cell5 cell6 - cell
    cart1 - cart
    box1 box2 - box)
  (:init)
  (:goal (and)))
