; Written for planforge: wheels, nuts, a jack that is used up while it holds a hub, and a boot to tidy.
(define (domain tyres)
  (:requirements :strips :typing)
  (:types thing hub boot - object tool wheel nuts - thing)
  (:constants wrench jack pump - tool)
  (:predicates
    (open ?b - boot)
    (closed ?b - boot)
    (in-boot ?x - thing ?b - boot)
    (at-hand ?x - thing)
    (on-ground ?h - hub)
    (jacked-up ?h - hub)
    (tight ?n - nuts ?h - hub)
    (loose ?n - nuts ?h - hub)
    (fastened ?h - hub)
    (unfastened ?h - hub)
    (bare ?h - hub)
    (wheel-on ?w - wheel ?h - hub)
    (flat ?w - wheel)
    (inflated ?w - wheel)
    (intact ?w - wheel))
  (:action open-boot
    :parameters (?b - boot)
    :precondition (closed ?b)
    :effect (and (open ?b) (not (closed ?b))))
  (:action close-boot
    :parameters (?b - boot)
    :precondition (open ?b)
    :effect (and (closed ?b) (not (open ?b))))
  (:action take-out
    :parameters (?x - thing ?b - boot)
    :precondition (and (open ?b) (in-boot ?x ?b))
    :effect (and (at-hand ?x) (not (in-boot ?x ?b))))
  (:action put-away
    :parameters (?x - thing ?b - boot)
    :precondition (and (open ?b) (at-hand ?x))
    :effect (and (in-boot ?x ?b) (not (at-hand ?x))))
  (:action loosen
    :parameters (?n - nuts ?h - hub)
    :precondition (and (at-hand wrench) (on-ground ?h) (tight ?n ?h))
    :effect (and (loose ?n ?h) (not (tight ?n ?h))))
  (:action tighten
    :parameters (?n - nuts ?h - hub)
    :precondition (and (at-hand wrench) (on-ground ?h) (loose ?n ?h))
    :effect (and (tight ?n ?h) (not (loose ?n ?h))))
  (:action jack-up
    :parameters (?h - hub)
    :precondition (and (at-hand jack) (on-ground ?h))
    :effect (and (jacked-up ?h) (not (on-ground ?h)) (not (at-hand jack))))
  (:action jack-down
    :parameters (?h - hub)
    :precondition (jacked-up ?h)
    :effect (and (on-ground ?h) (at-hand jack) (not (jacked-up ?h))))
  (:action unscrew
    :parameters (?n - nuts ?h - hub)
    :precondition (and (at-hand wrench) (jacked-up ?h) (fastened ?h) (loose ?n ?h))
    :effect (and (at-hand ?n) (unfastened ?h) (not (fastened ?h)) (not (loose ?n ?h))))
  (:action screw-on
    :parameters (?n - nuts ?h - hub)
    :precondition (and (at-hand wrench) (at-hand ?n) (jacked-up ?h) (unfastened ?h))
    :effect (and (loose ?n ?h) (fastened ?h) (not (unfastened ?h)) (not (at-hand ?n))))
  (:action pull-off
    :parameters (?w - wheel ?h - hub)
    :precondition (and (jacked-up ?h) (unfastened ?h) (wheel-on ?w ?h))
    :effect (and (at-hand ?w) (bare ?h) (not (wheel-on ?w ?h))))
  (:action put-on
    :parameters (?w - wheel ?h - hub)
    :precondition (and (jacked-up ?h) (unfastened ?h) (bare ?h) (at-hand ?w))
    :effect (and (wheel-on ?w ?h) (not (bare ?h)) (not (at-hand ?w))))
  (:action inflate
    :parameters (?w - wheel)
    :precondition (and (at-hand pump) (flat ?w) (intact ?w))
    :effect (and (inflated ?w) (not (flat ?w)))))
