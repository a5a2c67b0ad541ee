(define (domain blocks)
  (:requirements :strips :typing)
  (:types block)
  (:predicates
    (stands-on ?upper ?lower - block)
    (on-table ?b - block)
    (uncovered ?b - block)
    (held ?b - block)
    (arm-free))
  (:action lift
    :parameters (?b - block)
    :precondition (and (on-table ?b) (uncovered ?b))
    :effect (and (held ?b) (not (arm-free)) (not (on-table ?b)) (not (uncovered ?b))))
  (:action lower
    :parameters (?b - block)
    :precondition (held ?b)
    :effect (and (on-table ?b) (uncovered ?b) (arm-free) (not (held ?b))))
  (:action stack
    :parameters (?upper ?lower - block)
    :precondition (and (held ?upper) (uncovered ?lower))
    :effect (and (stands-on ?upper ?lower) (uncovered ?upper) (arm-free) (not (held ?upper)) (not (uncovered ?lower))))
  (:action unstack
    :parameters (?upper ?lower - block)
    :precondition (and (arm-free) (stands-on ?upper ?lower) (uncovered ?upper))
    :effect (and (held ?upper) (uncovered ?lower) (not (arm-free)) (not (stands-on ?upper ?lower)) (not (uncovered ?upper)))))
