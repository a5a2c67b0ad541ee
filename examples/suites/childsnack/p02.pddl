(define (problem childsnack-02)
  (:domain childsnack)
  (:objects
    child1 child2 child3 - child
    bread1 bread2 bread3 - bread
    filling1 filling2 filling3 - filling
    sandwich1 sandwich2 sandwich3 - sandwich
    tray1 - tray
    table1 table2 - place)
  (:init
    (bread-ready bread1)
    (bread-ready bread2)
    (bread-ready bread3)
    (filling-ready filling1)
    (filling-ready filling2)
    (filling-ready filling3)
    (gluten-free-bread bread2)
    (gluten-free-filling filling1)
    (not-made sandwich1)
    (not-made sandwich2)
    (not-made sandwich3)
    (tray-at tray1 kitchen)
    (allergic child1)
    (tolerant child2)
    (tolerant child3)
    (waits-at child1 table2)
    (waits-at child2 table1)
    (waits-at child3 table1))
  (:goal (and (served child1) (served child2) (served child3))))
