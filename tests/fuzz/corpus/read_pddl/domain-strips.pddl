(define (domain lamps)
  (:requirements :strips :typing)
  (:types lamp - fixture fixture)
  (:constants hall - lamp)
  (:predicates (lit ?l - lamp) (wired ?a ?b - fixture))
  (:action switch
    :parameters (?l - lamp)
    :precondition (not (lit ?l))
    :effect (lit ?l)))
