(define (problem bakery-03)
  (:domain bakery)
  (:objects
    baker1 - baker
    loaf1 loaf2 loaf3 loaf4 loaf5 - dough
    oven1 oven2 - oven
    shelf1 shelf2 shelf3 shelf4 - shelf)
  (:init)
  (:goal (and)))
