; Written for planforge: a gardener walks on a path, fills one can, waters dry beds and picks watered ones.
(define (domain garden)
  (:requirements :strips :typing)
  (:types place - object bed tap - place)
  (:predicates
    (path ?a ?b - place)
    (gardener-at ?p - place)
    (can-full)
    (can-empty)
    (dry ?b - bed)
    (watered ?b - bed)
    (picked ?b - bed))
  (:action walk
    :parameters (?from ?to - place)
    :precondition (and (gardener-at ?from) (path ?from ?to))
    :effect (and (gardener-at ?to) (not (gardener-at ?from))))
  (:action fill
    :parameters (?t - tap)
    :precondition (and (gardener-at ?t) (can-empty))
    :effect (and (can-full) (not (can-empty))))
  (:action water
    :parameters (?b - bed)
    :precondition (and (gardener-at ?b) (can-full) (dry ?b))
    :effect (and (watered ?b) (can-empty) (not (can-full)) (not (dry ?b))))
  (:action pick
    :parameters (?b - bed)
    :precondition (and (gardener-at ?b) (watered ?b))
    :effect (and (picked ?b) (dry ?b) (not (watered ?b)))))
