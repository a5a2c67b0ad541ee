(define (domain termes)
  (:requirements :strips :typing :negative-preconditions)
  (:types cell level)
  (:predicates)
  (:action walk
    :parameters (?from ?to - cell ?l - level)
    :precondition (and)
    :effect (and))
  (:action climb
    :parameters (?from ?to - cell ?low ?high - level)
    :precondition (and)
    :effect (and))
  (:action descend
    :parameters (?from ?to - cell ?high ?low - level)
    :precondition (and)
    :effect (and))
  (:action place
    :parameters (?here ?there - cell ?l ?higher - level)
    :precondition (and)
    :effect (and))
  (:action take
    :parameters (?here ?there - cell ?l ?higher - level)
    :precondition (and)
    :effect (and))
  (:action fetch
    :parameters (?c - cell)
    :precondition (and)
    :effect (and))
  (:action discard
    :parameters (?c - cell)
    :precondition (and)
    :effect (and)))
