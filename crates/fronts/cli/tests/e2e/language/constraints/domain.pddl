(define (domain kiosk)
  (:requirements :typing :negative-preconditions :constraints)
  (:types thing)
  (:predicates (have ?t - thing))
  (:action buy
    :parameters (?t - thing)
    :precondition (not (have ?t))
    :effect (have ?t)))
