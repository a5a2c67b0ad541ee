(define (problem childsnack-03)
  (:domain childsnack)
  (:objects
    child1 child2 child3 child4 - child
    bread1 bread2 bread3 bread4 - bread
    filling1 filling2 filling3 filling4 - filling
    sandwich1 sandwich2 sandwich3 sandwich4 - sandwich
    tray1 tray2 - tray
    table1 table2 table3 - place)
  (:init
    (bread-ready bread1)
    (bread-ready bread2)
    (bread-ready bread3)
    (bread-ready bread4)
    (filling-ready filling1)
    (filling-ready filling2)
    (filling-ready filling3)
    (filling-ready filling4)
    (gluten-free-bread bread1)
    (gluten-free-filling filling2)
    (not-made sandwich1)
    (not-made sandwich2)
    (not-made sandwich3)
    (not-made sandwich4)
    (tray-at tray1 kitchen)
    (tray-at tray2 kitchen)
    (tolerant child1)
    (tolerant child2)
    (allergic child3)
    (tolerant child4)
    (waits-at child1 table2)
    (waits-at child2 table2)
    (waits-at child3 table1)
    (waits-at child4 table2))
  (:goal (and (served child1) (served child2) (served child3) (served child4))))
