; Written for planforge: two hands, glasses, a shaker and recipes of two ingredients.
(define (domain barman)
  (:requirements :strips :typing)
  (:types
    hand level drink vessel dispenser - object
    glass shaker - vessel
    ingredient cocktail - drink)
  (:predicates
    (on-counter ?v - vessel)
    (in-hand ?h - hand ?v - vessel)
    (hand-free ?h - hand)
    (clean ?v - vessel)
    (empty ?v - vessel)
    (holds-drink ?v - vessel ?d - drink)
    (stained-by ?g - glass ?d - drink)
    (pours ?s - dispenser ?i - ingredient)
    (filled-to ?s - shaker ?l - level)
    (followed-by ?l ?next - level)
    (lowest ?s - shaker ?l - level)
    (unmixed ?s - shaker)
    (mixed ?s - shaker)
    (first-part ?c - cocktail ?i - ingredient)
    (second-part ?c - cocktail ?i - ingredient))
  (:action pick-up
    :parameters (?h - hand ?v - vessel)
    :precondition (and (on-counter ?v) (hand-free ?h))
    :effect (and (in-hand ?h ?v) (not (on-counter ?v)) (not (hand-free ?h))))
  (:action put-down
    :parameters (?h - hand ?v - vessel)
    :precondition (in-hand ?h ?v)
    :effect (and (on-counter ?v) (hand-free ?h) (not (in-hand ?h ?v))))
  (:action draw
    :parameters (?g - glass ?i - ingredient ?h ?other - hand ?s - dispenser)
    :precondition (and (in-hand ?h ?g) (hand-free ?other) (pours ?s ?i) (empty ?g) (clean ?g))
    :effect (and (holds-drink ?g ?i) (stained-by ?g ?i) (not (empty ?g)) (not (clean ?g))))
  (:action draw-again
    :parameters (?g - glass ?i - ingredient ?h ?other - hand ?s - dispenser)
    :precondition (and (in-hand ?h ?g) (hand-free ?other) (pours ?s ?i) (empty ?g) (stained-by ?g ?i))
    :effect (and (holds-drink ?g ?i) (not (empty ?g))))
  (:action tip-out
    :parameters (?h - hand ?g - glass ?d - drink)
    :precondition (and (in-hand ?h ?g) (holds-drink ?g ?d))
    :effect (and (empty ?g) (not (holds-drink ?g ?d))))
  (:action rinse
    :parameters (?g - glass ?d - drink ?h ?other - hand)
    :precondition (and (in-hand ?h ?g) (hand-free ?other) (empty ?g) (stained-by ?g ?d))
    :effect (and (clean ?g) (not (stained-by ?g ?d))))
  (:action start-mix
    :parameters (?g - glass ?i - ingredient ?s - shaker ?h - hand ?l ?next - level)
    :precondition (and (in-hand ?h ?g) (holds-drink ?g ?i) (empty ?s) (clean ?s) (filled-to ?s ?l) (followed-by ?l ?next))
    :effect (and (holds-drink ?s ?i) (empty ?g) (unmixed ?s) (filled-to ?s ?next)
      (not (holds-drink ?g ?i)) (not (empty ?s)) (not (clean ?s)) (not (filled-to ?s ?l))))
  (:action add-to-mix
    :parameters (?g - glass ?i - ingredient ?s - shaker ?h - hand ?l ?next - level)
    :precondition (and (in-hand ?h ?g) (holds-drink ?g ?i) (unmixed ?s) (filled-to ?s ?l) (followed-by ?l ?next))
    :effect (and (holds-drink ?s ?i) (empty ?g) (filled-to ?s ?next) (not (holds-drink ?g ?i)) (not (filled-to ?s ?l))))
  (:action shake
    :parameters (?c - cocktail ?i1 ?i2 - ingredient ?s - shaker ?h ?other - hand)
    :precondition (and (in-hand ?h ?s) (hand-free ?other) (unmixed ?s) (first-part ?c ?i1) (second-part ?c ?i2)
      (holds-drink ?s ?i1) (holds-drink ?s ?i2))
    :effect (and (holds-drink ?s ?c) (mixed ?s) (not (unmixed ?s)) (not (holds-drink ?s ?i1)) (not (holds-drink ?s ?i2))))
  (:action serve
    :parameters (?c - cocktail ?g - glass ?h - hand ?s - shaker ?l ?before - level)
    :precondition (and (in-hand ?h ?s) (mixed ?s) (holds-drink ?s ?c) (empty ?g) (clean ?g) (filled-to ?s ?l) (followed-by ?before ?l))
    :effect (and (holds-drink ?g ?c) (filled-to ?s ?before) (not (empty ?g)) (not (clean ?g)) (not (filled-to ?s ?l))))
  (:action drain
    :parameters (?h - hand ?s - shaker ?c - cocktail ?l ?low - level)
    :precondition (and (in-hand ?h ?s) (mixed ?s) (holds-drink ?s ?c) (filled-to ?s ?l) (lowest ?s ?low))
    :effect (and (empty ?s) (not (holds-drink ?s ?c)) (not (mixed ?s)) (not (filled-to ?s ?l)) (filled-to ?s ?low)))
  (:action wash-shaker
    :parameters (?h ?other - hand ?s - shaker)
    :precondition (and (in-hand ?h ?s) (hand-free ?other) (empty ?s))
    :effect (clean ?s)))
