(define (domain ferry)
  (:requirements :strips :typing)
  (:types car shore)
  (:predicates (car-at ?c - car ?s - shore) (ferry-at ?s - shore) (on-board ?c - car) (free))
  (:action sail
    :parameters (?from ?to - shore)
    :precondition (ferry-at ?from)
    :effect (and (ferry-at ?to) (not (ferry-at ?from))))
  (:action board
    :parameters (?c - car ?s - shore)
    :precondition (and (car-at ?c ?s) (ferry-at ?s) (free))
    :effect (and (on-board ?c) (not (car-at ?c ?s)) (not (free))))
  (:action debark
    :parameters (?c - car ?s - shore)
    :precondition (and (on-board ?c) (ferry-at ?s))
    :effect (and (car-at ?c ?s) (free) (not (on-board ?c)))))
