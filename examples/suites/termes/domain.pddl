; Written for planforge: a robot climbs one level at a time and builds with blocks from a depot.
(define (domain termes)
  (:requirements :strips :typing :negative-preconditions)
  (:types cell level)
  (:predicates
    (adjacent ?a ?b - cell)
    (one-above ?high ?low - level)
    (depot ?c - cell)
    (robot-at ?c - cell)
    (height ?c - cell ?l - level)
    (carries-block))
  (:action walk
    :parameters (?from ?to - cell ?l - level)
    :precondition (and (robot-at ?from) (adjacent ?from ?to) (height ?from ?l) (height ?to ?l))
    :effect (and (robot-at ?to) (not (robot-at ?from))))
  (:action climb
    :parameters (?from ?to - cell ?low ?high - level)
    :precondition (and (robot-at ?from) (adjacent ?from ?to) (height ?from ?low) (height ?to ?high) (one-above ?high ?low))
    :effect (and (robot-at ?to) (not (robot-at ?from))))
  (:action descend
    :parameters (?from ?to - cell ?high ?low - level)
    :precondition (and (robot-at ?from) (adjacent ?from ?to) (height ?from ?high) (height ?to ?low) (one-above ?high ?low))
    :effect (and (robot-at ?to) (not (robot-at ?from))))
  (:action place
    :parameters (?here ?there - cell ?l ?higher - level)
    :precondition (and (robot-at ?here) (adjacent ?here ?there) (height ?here ?l) (height ?there ?l) (one-above ?higher ?l)
      (carries-block) (not (depot ?there)))
    :effect (and (height ?there ?higher) (not (height ?there ?l)) (not (carries-block))))
  (:action take
    :parameters (?here ?there - cell ?l ?higher - level)
    :precondition (and (robot-at ?here) (adjacent ?here ?there) (height ?here ?l) (height ?there ?higher) (one-above ?higher ?l)
      (not (carries-block)))
    :effect (and (height ?there ?l) (carries-block) (not (height ?there ?higher))))
  (:action fetch
    :parameters (?c - cell)
    :precondition (and (robot-at ?c) (depot ?c) (not (carries-block)))
    :effect (carries-block))
  (:action discard
    :parameters (?c - cell)
    :precondition (and (robot-at ?c) (depot ?c) (carries-block))
    :effect (not (carries-block))))
