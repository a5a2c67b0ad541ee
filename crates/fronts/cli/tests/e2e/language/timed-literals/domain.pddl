(define (domain kiosk)
  (:requirements :typing :negative-preconditions :timed-initial-literals)
  (:types thing)
  (:predicates (open) (have ?t - thing))
  (:action buy
    :parameters (?t - thing)
    :precondition (and (open) (not (have ?t)))
    :effect (have ?t)))
