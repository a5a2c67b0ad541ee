; Written for planforge: stagehands change the set between scenes while it is dark.
(define (domain scenes)
  (:requirements :strips :typing :equality :negative-preconditions :disjunctive-preconditions
    :universal-preconditions :derived-predicates)
  (:types hand piece scene)
  (:predicates
    (on-stage ?x - piece)
    (heavy ?x - piece)
    (belongs ?x - piece ?s - scene)
    (followed-by ?s ?t - scene)
    (last-played ?s - scene)
    (dark)
    (fit ?h - hand)
    (ready ?s - scene))
  (:derived (ready ?s - scene)
    (forall (?x - piece)
      (or (and (on-stage ?x) (belongs ?x ?s)) (and (not (on-stage ?x)) (not (belongs ?x ?s))))))
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
    :precondition (and (dark) (not (= ?h ?k)) (fit ?h) (fit ?k) (heavy ?x) (not (on-stage ?x)))
    :effect (on-stage ?x))
  (:action remove-heavy
    :parameters (?h ?k - hand ?x - piece)
    :precondition (and (dark) (not (= ?h ?k)) (fit ?h) (fit ?k) (heavy ?x) (on-stage ?x))
    :effect (not (on-stage ?x)))
  (:action play
    :parameters (?s ?t - scene)
    :precondition (and (last-played ?s) (followed-by ?s ?t) (dark) (ready ?t))
    :effect (and (last-played ?t) (not (last-played ?s)) (not (dark)))))
