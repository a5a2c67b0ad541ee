(define (domain lamps)
  (:requirements :strips :typing)
  (:types lamp)
  (:predicates (wired ?l - lamp) (on ?l - lamp))
  (:action switch
    :parameters (?l - lamp)
    :precondition (wired ?l)
    :effect (on ?l)))
