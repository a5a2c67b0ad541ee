(define (domain lamps)
  (:requirements :strips :typing)
  (:types lamp room)
  (:predicates (in ?l - lamp ?r - room) (lit ?l - lamp) (broken ?l - lamp))
  (:action light
    :parameters (?l - lamp ?r - room)
    :precondition (and (in ?l ?r) (broken ?l))
    :effect (lit ?l)))
