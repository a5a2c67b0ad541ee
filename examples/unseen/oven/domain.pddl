; Written for planforge: dishes that need different heats share one oven, which spoils what it heats too much.
(define (domain oven)
  (:requirements :strips :typing :negative-preconditions :conditional-effects)
  (:types dish heat)
  (:predicates
    (needs ?d - dish ?h - heat)
    (set-to ?h - heat)
    (next-hotter ?h ?g - heat)
    (hotter ?h ?g - heat)
    (inside ?d - dish)
    (raw ?d - dish)
    (done ?d - dish)
    (spoilt ?d - dish))
  (:action put-in
    :parameters (?d - dish)
    :precondition (not (inside ?d))
    :effect (inside ?d))
  (:action take-out
    :parameters (?d - dish)
    :precondition (inside ?d)
    :effect (not (inside ?d)))
  (:action turn-up
    :parameters (?h ?g - heat)
    :precondition (and (set-to ?h) (next-hotter ?h ?g))
    :effect (and (set-to ?g) (not (set-to ?h))))
  (:action turn-down
    :parameters (?h ?g - heat)
    :precondition (and (set-to ?h) (next-hotter ?g ?h))
    :effect (and (set-to ?g) (not (set-to ?h))))
  (:action bake
    :parameters (?h - heat)
    :precondition (set-to ?h)
    :effect (and
      (forall (?d - dish)
        (when (and (inside ?d) (raw ?d) (needs ?d ?h)) (and (done ?d) (not (raw ?d)))))
      (forall (?d - dish ?g - heat)
        (when (and (inside ?d) (needs ?d ?g) (hotter ?h ?g)) (spoilt ?d)))
      (forall (?d - dish)
        (when (and (inside ?d) (done ?d)) (spoilt ?d))))))
