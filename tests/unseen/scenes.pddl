; Written for planforge, a second time and independently: stagehands change the set between scenes.
(define (domain scenes)
  (:requirements :strips :typing :equality :negative-preconditions
      :disjunctive-preconditions :universal-preconditions :derived-predicates)
  (:types hand piece scene)
  (:predicates
    (on-stage ?x - piece)
    (heavy ?x - piece)
    (belongs ?x - piece ?s - scene)
    (followed-by ?s ?t - scene) ; t follows s
    (last-played ?s - scene)
    (dark)
    (fit ?h - hand)
    (ready ?s - scene)) ; derived

  ; A piece is on the stage exactly if it belongs to the scene.
  (:derived (ready ?s - scene)
    (forall (?x - piece)
      (and
        (imply (on-stage ?x) (belongs ?x ?s))
        (imply (belongs ?x ?s) (on-stage ?x)))))

  (:action lights-out
    :parameters ()
    :precondition (not (dark))
    :effect (dark))

  (:action bring
    :parameters (?h - hand ?x - piece)
    :precondition (and (dark) (fit ?h) (not (heavy ?x)) (not (on-stage ?x)))
    :effect (on-stage ?x))

  (:action remove
    :parameters (?h - hand ?x - piece)
    :precondition (and (dark) (fit ?h) (not (heavy ?x)) (on-stage ?x))
    :effect (not (on-stage ?x)))

  (:action bring-heavy
    :parameters (?h ?k - hand ?x - piece)
    :precondition (and
      (dark)
      (fit ?h)
      (fit ?k)
      (not (= ?h ?k))
      (heavy ?x)
      (not (on-stage ?x)))
    :effect (on-stage ?x))

  (:action remove-heavy
    :parameters (?h ?k - hand ?x - piece)
    :precondition (and
      (dark)
      (fit ?h)
      (fit ?k)
      (not (= ?h ?k))
      (heavy ?x)
      (on-stage ?x))
    :effect (not (on-stage ?x)))

  (:action play
    :parameters (?s ?t - scene)
    :precondition (and (last-played ?s) (followed-by ?s ?t) (dark) (ready ?t))
    :effect (and (not (last-played ?s)) (last-played ?t) (not (dark)))))
