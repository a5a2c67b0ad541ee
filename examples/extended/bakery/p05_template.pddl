(define (problem bakery-05)
  (:domain bakery)
  (:objects
    baker1 baker2 - baker
    loaf1 loaf2 loaf3 loaf4 loaf5 loaf6 loaf7 - dough
    oven1 oven2 - oven
    shelf1 shelf2 shelf3 shelf4 shelf5 shelf6 - shelf)
  (:init)
  (:goal (and)))
