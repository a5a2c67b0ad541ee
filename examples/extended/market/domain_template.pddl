(define (domain market)
  (:requirements :strips :typing :equality :numeric-fluents)
  (:types place ware)
  (:constants home - place)
  (:predicates)
  (:action walk
    :parameters (?from ?to - place)
    :precondition (and)
    :effect (and))
  (:action return-bottle
    :parameters (?p - place)
    :precondition (and)
    :effect (and))
  (:action buy
    :parameters (?w - ware ?p - place)
    :precondition (and)
    :effect (and))
  (:action unpack
    :parameters (?w - ware)
    :precondition (and)
    :effect (and)))
