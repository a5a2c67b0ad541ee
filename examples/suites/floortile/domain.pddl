; Written for planforge: robots paint tiles to their north and south and never step on paint.
(define (domain floortile)
  (:requirements :strips :typing)
  (:types robot tile paint)
  (:predicates
    (north-of ?a ?b - tile)
    (east-of ?a ?b - tile)
    (stands ?r - robot ?t - tile)
    (free ?t - tile)
    (painted ?t - tile ?p - paint)
    (loaded ?r - robot ?p - paint)
    (in-stock ?p - paint))
  (:action step-north
    :parameters (?r - robot ?from ?to - tile)
    :precondition (and (stands ?r ?from) (north-of ?to ?from) (free ?to))
    :effect (and (stands ?r ?to) (free ?from) (not (stands ?r ?from)) (not (free ?to))))
  (:action step-south
    :parameters (?r - robot ?from ?to - tile)
    :precondition (and (stands ?r ?from) (north-of ?from ?to) (free ?to))
    :effect (and (stands ?r ?to) (free ?from) (not (stands ?r ?from)) (not (free ?to))))
  (:action step-east
    :parameters (?r - robot ?from ?to - tile)
    :precondition (and (stands ?r ?from) (east-of ?to ?from) (free ?to))
    :effect (and (stands ?r ?to) (free ?from) (not (stands ?r ?from)) (not (free ?to))))
  (:action step-west
    :parameters (?r - robot ?from ?to - tile)
    :precondition (and (stands ?r ?from) (east-of ?from ?to) (free ?to))
    :effect (and (stands ?r ?to) (free ?from) (not (stands ?r ?from)) (not (free ?to))))
  (:action paint-north
    :parameters (?r - robot ?here ?there - tile ?p - paint)
    :precondition (and (stands ?r ?here) (north-of ?there ?here) (free ?there) (loaded ?r ?p))
    :effect (and (painted ?there ?p) (not (free ?there))))
  (:action paint-south
    :parameters (?r - robot ?here ?there - tile ?p - paint)
    :precondition (and (stands ?r ?here) (north-of ?here ?there) (free ?there) (loaded ?r ?p))
    :effect (and (painted ?there ?p) (not (free ?there))))
  (:action swap-paint
    :parameters (?r - robot ?old ?new - paint)
    :precondition (and (loaded ?r ?old) (in-stock ?new))
    :effect (and (loaded ?r ?new) (not (loaded ?r ?old)))))
