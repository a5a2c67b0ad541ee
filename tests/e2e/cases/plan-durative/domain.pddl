(define (domain oven)
  (:requirements :typing :durative-actions)
  (:types bread)
  (:predicates (raw ?b - bread) (baked ?b - bread))
  (:durative-action bake
    :parameters (?b - bread)
    :duration (= ?duration 40)
    :condition (at start (raw ?b))
    :effect (and (at start (not (raw ?b))) (at end (baked ?b)))))
