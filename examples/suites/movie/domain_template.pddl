(define (domain movie)
  (:requirements :strips :typing :negative-preconditions)
  (:types packet - object crisps dip pizza cheese biscuits - packet)
  (:predicates)
  (:action rewind-long-tape
    :parameters ()
    :precondition (and)
    :effect (and))
  (:action rewind-tape
    :parameters ()
    :precondition (and)
    :effect (and))
  (:action play-tape
    :parameters ()
    :precondition (and)
    :effect (and))
  (:action reset-counter
    :parameters ()
    :precondition (and)
    :effect (and))
  (:action fetch-crisps
    :parameters (?x - crisps)
    :precondition (and)
    :effect (and))
  (:action fetch-dip
    :parameters (?x - dip)
    :precondition (and)
    :effect (and))
  (:action fetch-pizza
    :parameters (?x - pizza)
    :precondition (and)
    :effect (and))
  (:action fetch-cheese
    :parameters (?x - cheese)
    :precondition (and)
    :effect (and))
  (:action fetch-biscuits
    :parameters (?x - biscuits)
    :precondition (and)
    :effect (and)))
