; Written for planforge: as grippers, with rooms that must be aired before each visit.
(define (domain grippers-ood)
  (:requirements :strips :typing :negative-preconditions)
  (:types room robot gripper ball)
  (:predicates
    (robot-in ?r - robot ?place - room)
    (ball-in ?b - ball ?place - room)
    (empty ?r - robot ?g - gripper)
    (holds ?r - robot ?g - gripper ?b - ball)
    (aired ?place - room))
  (:action go
    :parameters (?r - robot ?from ?to - room)
    :precondition (and (robot-in ?r ?from) (aired ?to))
    :effect (and (robot-in ?r ?to) (not (robot-in ?r ?from)) (not (aired ?to))))
  (:action grasp
    :parameters (?r - robot ?g - gripper ?b - ball ?place - room)
    :precondition (and (robot-in ?r ?place) (ball-in ?b ?place) (empty ?r ?g))
    :effect (and (holds ?r ?g ?b) (not (ball-in ?b ?place)) (not (empty ?r ?g))))
  (:action release
    :parameters (?r - robot ?g - gripper ?b - ball ?place - room)
    :precondition (and (robot-in ?r ?place) (holds ?r ?g ?b))
    :effect (and (ball-in ?b ?place) (empty ?r ?g) (not (holds ?r ?g ?b))))
  (:action air-out
    :parameters (?place - room)
    :precondition (not (aired ?place))
    :effect (aired ?place)))
