(define (domain tyres)
  (:requirements :strips :typing)
  (:types thing hub boot - object tool wheel nuts - thing)
  (:constants wrench jack pump - tool)
  (:predicates)
  (:action open-boot
    :parameters (?b - boot)
    :precondition (and)
    :effect (and))
  (:action close-boot
    :parameters (?b - boot)
    :precondition (and)
    :effect (and))
  (:action take-out
    :parameters (?x - thing ?b - boot)
    :precondition (and)
    :effect (and))
  (:action put-away
    :parameters (?x - thing ?b - boot)
    :precondition (and)
    :effect (and))
  (:action loosen
    :parameters (?n - nuts ?h - hub)
    :precondition (and)
    :effect (and))
  (:action tighten
    :parameters (?n - nuts ?h - hub)
    :precondition (and)
    :effect (and))
  (:action jack-up
    :parameters (?h - hub)
    :precondition (and)
    :effect (and))
  (:action jack-down
    :parameters (?h - hub)
    :precondition (and)
    :effect (and))
  (:action unscrew
    :parameters (?n - nuts ?h - hub)
    :precondition (and)
    :effect (and))
  (:action screw-on
    :parameters (?n - nuts ?h - hub)
    :precondition (and)
    :effect (and))
  (:action pull-off
    :parameters (?w - wheel ?h - hub)
    :precondition (and)
    :effect (and))
  (:action put-on
    :parameters (?w - wheel ?h - hub)
    :precondition (and)
    :effect (and))
  (:action inflate
    :parameters (?w - wheel)
    :precondition (and)
    :effect (and)))
