(define (problem bakery-02)
  (:domain bakery)
  (:objects
    baker1 - baker
    loaf1 loaf2 loaf3 loaf4 - dough
    oven1 - oven
    shelf1 shelf2 - shelf)
  (:init
    (free baker1)
    (raw loaf1)
    (= (kneading-time loaf1) 4)
    (= (baking-time loaf1) 25)
    (raw loaf2)
    (= (kneading-time loaf2) 6)
    (= (baking-time loaf2) 35)
    (raw loaf3)
    (= (kneading-time loaf3) 6)
    (= (baking-time loaf3) 40)
    (raw loaf4)
    (= (kneading-time loaf4) 4)
    (= (baking-time loaf4) 30)
    (has-wood oven1)
    (= (burning-time oven1) 67)
    (shelf-of shelf1 oven1)
    (empty shelf1)
    (shelf-of shelf2 oven1)
    (empty shelf2))
  (:goal (and (baked loaf1) (baked loaf2) (baked loaf3) (baked loaf4)))
  (:metric minimize (total-time)))
