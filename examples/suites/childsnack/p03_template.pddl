(define (problem childsnack-03)
  (:domain childsnack)
  (:objects
    child1 child2 child3 child4 - child
    bread1 bread2 bread3 bread4 - bread
    filling1 filling2 filling3 filling4 - filling
    sandwich1 sandwich2 sandwich3 sandwich4 - sandwich
    tray1 tray2 - tray
    table1 table2 table3 - place)
  (:init)
  (:goal (and)))
