(define (domain hiking)
  (:requirements :strips :typing)
  (:types camp hiker team car tent)
  (:predicates)
  (:action pitch
    :parameters (?h - hiker ?t - tent ?p - camp)
    :precondition (and)
    :effect (and))
  (:action strike
    :parameters (?h - hiker ?t - tent ?p - camp)
    :precondition (and)
    :effect (and))
  (:action drive
    :parameters (?h - hiker ?c - car ?from ?to - camp)
    :precondition (and)
    :effect (and))
  (:action drive-tent
    :parameters (?h - hiker ?c - car ?from ?to - camp ?t - tent)
    :precondition (and)
    :effect (and))
  (:action drive-friend
    :parameters (?h - hiker ?c - car ?from ?to - camp ?friend - hiker)
    :precondition (and)
    :effect (and))
  (:action drive-all
    :parameters (?h - hiker ?c - car ?from ?to - camp ?friend - hiker ?t - tent)
    :precondition (and)
    :effect (and))
  (:action hike
    :parameters (?m - team ?a ?b - hiker ?from ?to - camp ?t - tent)
    :precondition (and)
    :effect (and)))
