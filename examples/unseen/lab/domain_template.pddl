(define (domain lab)
  (:requirements :strips :typing)
  (:types arm plate device step)
  (:predicates)
  (:action pick
    :parameters (?a - arm ?p - plate ?d - device)
    :precondition (and)
    :effect (and))
  (:action place
    :parameters (?a - arm ?p - plate ?d - device)
    :precondition (and)
    :effect (and))
  (:action process
    :parameters (?p - plate ?d - device ?s ?t - step)
    :precondition (and)
    :effect (and))
  (:action wash
    :parameters (?d - device)
    :precondition (and)
    :effect (and)))
