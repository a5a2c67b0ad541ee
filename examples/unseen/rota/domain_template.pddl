(define (domain rota)
  (:requirements :strips :typing)
  (:types nurse ward skill shift)
  (:predicates)
  (:action assign
    :parameters (?n - nurse ?w - ward ?s - shift)
    :precondition (and)
    :effect (and))
  (:action withdraw
    :parameters (?n - nurse ?w - ward ?s - shift)
    :precondition (and)
    :effect (and)))
