(define (problem childsnack-02)
  (:domain childsnack)
  (:objects
    child1 child2 child3 - child
    bread1 bread2 bread3 - bread
    filling1 filling2 filling3 - filling
    sandwich1 sandwich2 sandwich3 - sandwich
    tray1 - tray
    table1 table2 - place)
  (:init)
  (:goal (and)))
