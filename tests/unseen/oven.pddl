; Written for planforge, a second time and independently: dishes share an oven with one heat.
(define (domain oven)
  (:requirements :strips :typing :negative-preconditions :conditional-effects)
  (:types dish heat)
  (:predicates
    (needs ?d - dish ?h - heat)
    (set-to ?h - heat)
    (next-hotter ?h ?g - heat) ; g is the next hotter one after h
    (hotter ?h ?g - heat) ; h is hotter than g
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
    :effect (and (not (set-to ?h)) (set-to ?g)))

  (:action turn-down
    :parameters (?h ?g - heat)
    :precondition (and (set-to ?h) (next-hotter ?g ?h))
    :effect (and (not (set-to ?h)) (set-to ?g)))

  ; All conditions are about the state before baking.
  (:action bake
    :parameters (?h - heat)
    :precondition (set-to ?h)
    :effect (and
      (forall (?d - dish)
        (when (and (inside ?d) (raw ?d) (needs ?d ?h))
          (and (done ?d) (not (raw ?d)))))
      (forall (?d - dish ?g - heat)
        (when (and (inside ?d) (needs ?d ?g) (hotter ?h ?g)) (spoilt ?d)))
      (forall (?d - dish) (when (and (inside ?d) (done ?d)) (spoilt ?d))))))
