(define (domain childsnack)
  (:requirements :strips :typing)
  (:types child bread filling sandwich tray place)
  (:constants kitchen - place)
  (:predicates)
  (:action make-plain
    :parameters (?s - sandwich ?b - bread ?f - filling)
    :precondition (and)
    :effect (and))
  (:action make-safe
    :parameters (?s - sandwich ?b - bread ?f - filling)
    :precondition (and)
    :effect (and))
  (:action load
    :parameters (?s - sandwich ?t - tray)
    :precondition (and)
    :effect (and))
  (:action carry
    :parameters (?t - tray ?from ?to - place)
    :precondition (and)
    :effect (and))
  (:action serve-allergic
    :parameters (?s - sandwich ?c - child ?t - tray ?p - place)
    :precondition (and)
    :effect (and))
  (:action serve-tolerant
    :parameters (?s - sandwich ?c - child ?t - tray ?p - place)
    :precondition (and)
    :effect (and)))
