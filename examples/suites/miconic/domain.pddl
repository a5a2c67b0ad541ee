; Written for planforge: a lift and its passengers.
(define (domain miconic)
  (:requirements :strips :typing)
  (:types floor passenger)
  (:predicates
    (above ?high ?low - floor)
    (lift-at ?f - floor)
    (waits-at ?p - passenger ?f - floor)
    (wants-to ?p - passenger ?f - floor)
    (in-lift ?p - passenger)
    (arrived ?p - passenger))
  (:action go-up
    :parameters (?from ?to - floor)
    :precondition (and (lift-at ?from) (above ?to ?from))
    :effect (and (lift-at ?to) (not (lift-at ?from))))
  (:action go-down
    :parameters (?from ?to - floor)
    :precondition (and (lift-at ?from) (above ?from ?to))
    :effect (and (lift-at ?to) (not (lift-at ?from))))
  (:action enter
    :parameters (?p - passenger ?f - floor)
    :precondition (and (lift-at ?f) (waits-at ?p ?f))
    :effect (and (in-lift ?p) (not (waits-at ?p ?f))))
  (:action leave
    :parameters (?p - passenger ?f - floor)
    :precondition (and (lift-at ?f) (in-lift ?p) (wants-to ?p ?f))
    :effect (and (arrived ?p) (not (in-lift ?p)))))
