(define (problem bakery-example)
  (:domain bakery)
  (:objects
    baker1 - baker
    loaf1 loaf2 - dough
    oven1 - oven
    shelf1 - shelf)
  (:init)
  (:goal (and)))
