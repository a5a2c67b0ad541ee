(define (problem childsnack-05)
  (:domain childsnack)
  (:objects
    child1 child2 child3 child4 child5 child6 - child
    bread1 bread2 bread3 bread4 bread5 bread6 - bread
    filling1 filling2 filling3 filling4 filling5 filling6 - filling
    sandwich1 sandwich2 sandwich3 sandwich4 sandwich5 sandwich6 - sandwich
    tray1 tray2 - tray
    table1 table2 table3 table4 - place)
  (:init)
  (:goal (and)))
