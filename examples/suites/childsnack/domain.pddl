; Written for planforge: sandwiches with and without gluten, carried on trays.
(define (domain childsnack)
  (:requirements :strips :typing)
  (:types child bread filling sandwich tray place)
  (:constants kitchen - place)
  (:predicates
    (bread-ready ?b - bread)
    (filling-ready ?f - filling)
    (gluten-free-bread ?b - bread)
    (gluten-free-filling ?f - filling)
    (not-made ?s - sandwich)
    (in-kitchen ?s - sandwich)
    (safe ?s - sandwich)
    (on-tray ?s - sandwich ?t - tray)
    (tray-at ?t - tray ?p - place)
    (allergic ?c - child)
    (tolerant ?c - child)
    (waits-at ?c - child ?p - place)
    (served ?c - child))
  (:action make-plain
    :parameters (?s - sandwich ?b - bread ?f - filling)
    :precondition (and (not-made ?s) (bread-ready ?b) (filling-ready ?f))
    :effect (and (in-kitchen ?s) (not (not-made ?s)) (not (bread-ready ?b)) (not (filling-ready ?f))))
  (:action make-safe
    :parameters (?s - sandwich ?b - bread ?f - filling)
    :precondition (and (not-made ?s) (bread-ready ?b) (filling-ready ?f) (gluten-free-bread ?b) (gluten-free-filling ?f))
    :effect (and (in-kitchen ?s) (safe ?s) (not (not-made ?s)) (not (bread-ready ?b)) (not (filling-ready ?f))))
  (:action load
    :parameters (?s - sandwich ?t - tray)
    :precondition (and (in-kitchen ?s) (tray-at ?t kitchen))
    :effect (and (on-tray ?s ?t) (not (in-kitchen ?s))))
  (:action carry
    :parameters (?t - tray ?from ?to - place)
    :precondition (tray-at ?t ?from)
    :effect (and (tray-at ?t ?to) (not (tray-at ?t ?from))))
  (:action serve-allergic
    :parameters (?s - sandwich ?c - child ?t - tray ?p - place)
    :precondition (and (allergic ?c) (waits-at ?c ?p) (tray-at ?t ?p) (on-tray ?s ?t) (safe ?s))
    :effect (and (served ?c) (not (on-tray ?s ?t))))
  (:action serve-tolerant
    :parameters (?s - sandwich ?c - child ?t - tray ?p - place)
    :precondition (and (tolerant ?c) (waits-at ?c ?p) (tray-at ?t ?p) (on-tray ?s ?t))
    :effect (and (served ?c) (not (on-tray ?s ?t)))))
