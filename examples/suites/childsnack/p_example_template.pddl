(define (problem childsnack-example)
  (:domain childsnack)
  (:objects
    child1 child2 - child
    bread1 bread2 - bread
    filling1 filling2 - filling
    sandwich1 sandwich2 sandwich3 - sandwich
    tray1 - tray
    table1 - place)
  (:init)
  (:goal (and)))
