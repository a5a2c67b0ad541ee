; Written for planforge: a tape, a counter and five snacks from the larder.
(define (domain movie)
  (:requirements :strips :typing :negative-preconditions)
  (:types packet - object crisps dip pizza cheese biscuits - packet)
  (:predicates
    (in-larder ?x - packet)
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
  (:action play-tape
    :parameters ()
    :precondition (tape-rewound)
    :effect (and (counter-at-two-hours) (not (tape-rewound)) (not (counter-at-zero))))
  (:action reset-counter
    :parameters ()
    :precondition (and)
    :effect (and (counter-at-zero) (not (counter-at-two-hours))))
  (:action fetch-crisps
    :parameters (?x - crisps)
    :precondition (in-larder ?x)
    :effect (got-crisps))
  (:action fetch-dip
    :parameters (?x - dip)
    :precondition (in-larder ?x)
    :effect (got-dip))
  (:action fetch-pizza
    :parameters (?x - pizza)
    :precondition (in-larder ?x)
    :effect (got-pizza))
  (:action fetch-cheese
    :parameters (?x - cheese)
    :precondition (in-larder ?x)
    :effect (got-cheese))
  (:action fetch-biscuits
    :parameters (?x - biscuits)
    :precondition (in-larder ?x)
    :effect (got-biscuits)))
