(define (domain barman)
  (:requirements :strips :typing)
  (:types hand level drink vessel dispenser - object glass shaker - vessel ingredient cocktail - drink)
  (:predicates)
  (:action pick-up
    :parameters (?h - hand ?v - vessel)
    :precondition (and)
    :effect (and))
  (:action put-down
    :parameters (?h - hand ?v - vessel)
    :precondition (and)
    :effect (and))
  (:action draw
    :parameters (?g - glass ?i - ingredient ?h ?other - hand ?s - dispenser)
    :precondition (and)
    :effect (and))
  (:action draw-again
    :parameters (?g - glass ?i - ingredient ?h ?other - hand ?s - dispenser)
    :precondition (and)
    :effect (and))
  (:action tip-out
    :parameters (?h - hand ?g - glass ?d - drink)
    :precondition (and)
    :effect (and))
  (:action rinse
    :parameters (?g - glass ?d - drink ?h ?other - hand)
    :precondition (and)
    :effect (and))
  (:action start-mix
    :parameters (?g - glass ?i - ingredient ?s - shaker ?h - hand ?l ?next - level)
    :precondition (and)
    :effect (and))
  (:action add-to-mix
    :parameters (?g - glass ?i - ingredient ?s - shaker ?h - hand ?l ?next - level)
    :precondition (and)
    :effect (and))
  (:action shake
    :parameters (?c - cocktail ?i1 ?i2 - ingredient ?s - shaker ?h ?other - hand)
    :precondition (and)
    :effect (and))
  (:action serve
    :parameters (?c - cocktail ?g - glass ?h - hand ?s - shaker ?l ?before - level)
    :precondition (and)
    :effect (and))
  (:action drain
    :parameters (?h - hand ?s - shaker ?c - cocktail ?l ?low - level)
    :precondition (and)
    :effect (and))
  (:action wash-shaker
    :parameters (?h ?other - hand ?s - shaker)
    :precondition (and)
    :effect (and)))
