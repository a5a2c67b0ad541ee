(define (problem storage-example)
  (:domain storage)
  (:objects
    cell1 cell2 cell3 cell4 - cell
    cart1 - cart
    box1 - box)
  (:init
    (joined cell1 cell3)
    (joined cell3 cell1)
    (joined cell1 cell4)
    (joined cell4 cell1)
    (joined cell2 cell4)
    (joined cell4 cell2)
    (joined cell3 cell4)
    (joined cell4 cell3)
    (cart-on cart1 cell4)
    (unladen cart1)
    (box-on box1 cell2)
    (vacant cell1)
    (vacant cell3))
  (:goal (and (box-on box1 cell4))))
