(define (domain kiosk)
  (:requirements :typing :durative-actions)
  (:types thing)
  (:predicates (raw ?t - thing) (baked ?t - thing))
  (:durative-action bake
    :parameters (?t - thing)
    :duration (= ?duration 40)
    :condition (at start (raw ?t))
    :effect (and (at start (not (raw ?t))) (at end (baked ?t)))))
