(define (problem childsnack-01)
  (:domain childsnack)
  (:objects
    child1 child2 - child
    bread1 bread2 - bread
    filling1 filling2 - filling
    sandwich1 sandwich2 sandwich3 - sandwich
    tray1 - tray
    table1 table2 - place)
  (:init
    (bread-ready bread1)
    (bread-ready bread2)
    (filling-ready filling1)
    (filling-ready filling2)
    (gluten-free-bread bread1)
    (gluten-free-filling filling2)
    (not-made sandwich1)
    (not-made sandwich2)
    (not-made sandwich3)
    (tray-at tray1 kitchen)
    (tolerant child1)
    (allergic child2)
    (waits-at child1 table1)
    (waits-at child2 table1))
  (:goal (and (served child1) (served child2))))
