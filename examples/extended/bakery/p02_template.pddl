(define (problem bakery-02)
  (:domain bakery)
  (:objects
    baker1 - baker
    loaf1 loaf2 loaf3 loaf4 - dough
    oven1 - oven
    shelf1 shelf2 - shelf)
  (:init)
  (:goal (and)))
