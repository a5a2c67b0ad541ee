(define (problem bakery-01)
  (:domain bakery)
  (:objects
    baker1 - baker
    loaf1 loaf2 loaf3 - dough
    oven1 - oven
    shelf1 - shelf)
  (:init)
  (:goal (and)))
