; Written for planforge: a tape, a counter and five snacks.
(define (domain movie)
  (:requirements :strips :typing :negative-preconditions)
  (:types crisps dip pizza cheese biscuits)
  (:predicates
    (tape-rewound)
    (counter-at-zero)
    (counter-at-two-hours)
    (got-crisps)
    (got-dip)
    (got-pizza)
    (got-cheese)
    (got-biscuits))
  (:action rewind-long-tape
    :parameters ()
    :precondition (counter-at-two-hours)
    :effect (tape-rewound))
  (:action rewind-tape
    :parameters ()
    :precondition (not (counter-at-two-hours))
    :effect (and (tape-rewound) (not (counter-at-zero))))
  (:action reset-counter
    :parameters ()
    :precondition (and)
    :effect (counter-at-zero))
  (:action fetch-crisps
    :parameters (?x - crisps)
    :precondition (and)
    :effect (got-crisps))
  (:action fetch-dip
    :parameters (?x - dip)
    :precondition (and)
    :effect (got-dip))
  (:action fetch-pizza
    :parameters (?x - pizza)
    :precondition (and)
    :effect (got-pizza))
  (:action fetch-cheese
    :parameters (?x - cheese)
    :precondition (and)
    :effect (got-cheese))
  (:action fetch-biscuits
    :parameters (?x - biscuits)
    :precondition (and)
    :effect (got-biscuits)))
