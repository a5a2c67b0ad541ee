; Written for planforge: a class walks through a town. Some sights cost a ticket, and not every wish can come true.
(define (domain outing)
  (:requirements :strips :typing)
  (:types place ticket)
  (:predicates
    (class-at ?p - place)
    (way ?a ?b - place)
    (costs-ticket ?p - place)
    (costs-nothing ?p - place)
    (sells-food ?p - place)
    (unused ?t - ticket)
    (seen ?p - place)
    (had-lunch))
  (:action walk
    :parameters (?from ?to - place)
    :precondition (and (class-at ?from) (way ?from ?to))
    :effect (and (class-at ?to) (not (class-at ?from))))
  (:action visit
    :parameters (?p - place ?t - ticket)
    :precondition (and (class-at ?p) (costs-ticket ?p) (unused ?t))
    :effect (and (seen ?p) (not (unused ?t))))
  (:action look-around
    :parameters (?p - place)
    :precondition (and (class-at ?p) (costs-nothing ?p))
    :effect (seen ?p))
  (:action have-lunch
    :parameters (?p - place)
    :precondition (and (class-at ?p) (sells-food ?p))
    :effect (had-lunch)))
