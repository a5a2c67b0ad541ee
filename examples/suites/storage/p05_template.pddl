(define (problem storage-05)
  (:domain storage)
  (:objects
    cell1 cell2 cell3 cell4 cell5 cell6 cell7 cell8 cell9 - cell
    cart1 cart2 - cart
    box1 box2 box3 - box)
  (:init)
  (:goal (and)))
