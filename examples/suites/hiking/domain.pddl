; Written for planforge: teams of two on a trail, tents and cars.
(define (domain hiking)
  (:requirements :strips :typing)
  (:types camp hiker team car tent)
  (:predicates
    (trail ?from ?to - camp)
    (team-of ?m - team ?a ?b - hiker)
    (hiker-at ?h - hiker ?p - camp)
    (car-at ?c - car ?p - camp)
    (tent-at ?t - tent ?p - camp)
    (pitched ?t - tent)
    (packed ?t - tent)
    (reached ?m - team ?p - camp))
  (:action pitch
    :parameters (?h - hiker ?t - tent ?p - camp)
    :precondition (and (hiker-at ?h ?p) (tent-at ?t ?p) (packed ?t))
    :effect (and (pitched ?t) (not (packed ?t))))
  (:action strike
    :parameters (?h - hiker ?t - tent ?p - camp)
    :precondition (and (hiker-at ?h ?p) (tent-at ?t ?p) (pitched ?t))
    :effect (and (packed ?t) (not (pitched ?t))))
  (:action drive
    :parameters (?h - hiker ?c - car ?from ?to - camp)
    :precondition (and (hiker-at ?h ?from) (car-at ?c ?from))
    :effect (and (hiker-at ?h ?to) (car-at ?c ?to) (not (hiker-at ?h ?from)) (not (car-at ?c ?from))))
  (:action drive-tent
    :parameters (?h - hiker ?c - car ?from ?to - camp ?t - tent)
    :precondition (and (hiker-at ?h ?from) (car-at ?c ?from) (tent-at ?t ?from) (packed ?t))
    :effect (and (hiker-at ?h ?to) (car-at ?c ?to) (tent-at ?t ?to)
      (not (hiker-at ?h ?from)) (not (car-at ?c ?from)) (not (tent-at ?t ?from))))
  (:action drive-friend
    :parameters (?h - hiker ?c - car ?from ?to - camp ?friend - hiker)
    :precondition (and (hiker-at ?h ?from) (car-at ?c ?from) (hiker-at ?friend ?from))
    :effect (and (hiker-at ?h ?to) (car-at ?c ?to) (hiker-at ?friend ?to)
      (not (hiker-at ?h ?from)) (not (car-at ?c ?from)) (not (hiker-at ?friend ?from))))
  (:action drive-all
    :parameters (?h - hiker ?c - car ?from ?to - camp ?friend - hiker ?t - tent)
    :precondition (and (hiker-at ?h ?from) (car-at ?c ?from) (hiker-at ?friend ?from) (tent-at ?t ?from) (packed ?t))
    :effect (and (hiker-at ?h ?to) (car-at ?c ?to) (hiker-at ?friend ?to) (tent-at ?t ?to)
      (not (hiker-at ?h ?from)) (not (car-at ?c ?from)) (not (hiker-at ?friend ?from)) (not (tent-at ?t ?from))))
  (:action hike
    :parameters (?m - team ?a ?b - hiker ?from ?to - camp ?t - tent)
    :precondition (and (team-of ?m ?a ?b) (hiker-at ?a ?from) (hiker-at ?b ?from) (reached ?m ?from) (trail ?from ?to)
      (tent-at ?t ?to) (pitched ?t))
    :effect (and (hiker-at ?a ?to) (hiker-at ?b ?to) (reached ?m ?to)
      (not (hiker-at ?a ?from)) (not (hiker-at ?b ?from)) (not (reached ?m ?from)))))
