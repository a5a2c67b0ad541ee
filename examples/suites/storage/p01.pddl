(define (problem storage-01)
  (:domain storage)
  (:objects
    cell1 cell2 cell3 cell4 cell5 - cell
    cart1 - cart
    box1 - box)
  (:init
    (joined cell1 cell4)
    (joined cell4 cell1)
    (joined cell2 cell4)
    (joined cell4 cell2)
    (joined cell2 cell5)
    (joined cell5 cell2)
    (joined cell3 cell4)
    (joined cell4 cell3)
    (joined cell4 cell5)
    (joined cell5 cell4)
    (cart-on cart1 cell3)
    (unladen cart1)
    (box-on box1 cell5)
    (vacant cell1)
    (vacant cell2)
    (vacant cell4))
  (:goal (and (box-on box1 cell2))))
