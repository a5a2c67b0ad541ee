(define (problem bakery-example)
  (:domain bakery)
  (:objects
    baker1 - baker
    loaf1 loaf2 - dough
    oven1 - oven
    shelf1 - shelf)
  (:init
    (free baker1)
    (raw loaf1)
    (= (kneading-time loaf1) 12)
    (= (baking-time loaf1) 30)
    (raw loaf2)
    (= (kneading-time loaf2) 12)
    (= (baking-time loaf2) 35)
    (has-wood oven1)
    (= (burning-time oven1) 68)
    (shelf-of shelf1 oven1)
    (empty shelf1))
  (:goal (and (baked loaf1) (baked loaf2)))
  (:metric minimize (total-time)))
