(define (domain scenes)
  (:requirements :strips :typing)
  (:types hand piece scene)
  (:predicates)
  (:action lights-out
    :parameters ()
    :precondition (and)
    :effect (and))
  (:action bring
    :parameters (?h - hand ?x - piece)
    :precondition (and)
    :effect (and))
  (:action remove
    :parameters (?h - hand ?x - piece)
    :precondition (and)
    :effect (and))
  (:action bring-heavy
    :parameters (?h ?k - hand ?x - piece)
    :precondition (and)
    :effect (and))
  (:action remove-heavy
    :parameters (?h ?k - hand ?x - piece)
    :precondition (and)
    :effect (and))
  (:action play
    :parameters (?s ?t - scene)
    :precondition (and)
    :effect (and)))
