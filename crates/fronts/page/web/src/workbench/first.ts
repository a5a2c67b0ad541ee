/** The task that an empty workbench begins with. */
export const FIRST = {
  domain: `(define (domain ferry)
  (:requirements :strips :typing)
  (:types place car)
  (:predicates (ferry-at ?p - place) (car-at ?c - car ?p - place) (on-ferry ?c - car) (empty-ferry))
  (:action sail
    :parameters (?from ?to - place)
    :precondition (ferry-at ?from)
    :effect (and (ferry-at ?to) (not (ferry-at ?from))))
  (:action board
    :parameters (?c - car ?p - place)
    :precondition (and (car-at ?c ?p) (ferry-at ?p) (empty-ferry))
    :effect (and (on-ferry ?c) (not (car-at ?c ?p)) (not (empty-ferry))))
  (:action leave
    :parameters (?c - car ?p - place)
    :precondition (and (on-ferry ?c) (ferry-at ?p))
    :effect (and (car-at ?c ?p) (empty-ferry) (not (on-ferry ?c)))))
`,
  problem: `(define (problem two-cars)
  (:domain ferry)
  (:objects north south - place red blue - car)
  (:init (ferry-at south) (empty-ferry) (car-at red north) (car-at blue south))
  (:goal (and (car-at red south) (car-at blue north))))
`,
  plan: "",
};
