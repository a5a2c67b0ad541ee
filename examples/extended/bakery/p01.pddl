(define (problem bakery-01)
  (:domain bakery)
  (:objects
    baker1 - baker
    loaf1 loaf2 loaf3 - dough
    oven1 - oven
    shelf1 - shelf)
  (:init
    (free baker1)
    (raw loaf1)
    (= (kneading-time loaf1) 10)
    (= (baking-time loaf1) 40)
    (raw loaf2)
    (= (kneading-time loaf2) 8)
    (= (baking-time loaf2) 25)
    (raw loaf3)
    (= (kneading-time loaf3) 12)
    (= (baking-time loaf3) 30)
    (has-wood oven1)
    (= (burning-time oven1) 96)
    (shelf-of shelf1 oven1)
    (empty shelf1))
  (:goal (and (baked loaf1) (baked loaf2) (baked loaf3)))
  (:metric minimize (total-time)))
