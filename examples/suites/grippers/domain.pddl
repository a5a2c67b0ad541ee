; Written for planforge: robots with grippers of their own carry balls between rooms.
(define (domain grippers)
  (:requirements :strips :typing)
  (:types room robot gripper ball)
  (:predicates
    (robot-in ?r - robot ?place - room)
    (ball-in ?b - ball ?place - room)
    (empty ?r - robot ?g - gripper)
    (holds ?r - robot ?g - gripper ?b - ball))
  (:action go
    :parameters (?r - robot ?from ?to - room)
    :precondition (robot-in ?r ?from)
    :effect (and (robot-in ?r ?to) (not (robot-in ?r ?from))))
  (:action grasp
    :parameters (?r - robot ?g - gripper ?b - ball ?place - room)
    :precondition (and (robot-in ?r ?place) (ball-in ?b ?place) (empty ?r ?g))
    :effect (and (holds ?r ?g ?b) (not (ball-in ?b ?place)) (not (empty ?r ?g))))
  (:action release
    :parameters (?r - robot ?g - gripper ?b - ball ?place - room)
    :precondition (and (robot-in ?r ?place) (holds ?r ?g ?b))
    :effect (and (ball-in ?b ?place) (empty ?r ?g) (not (holds ?r ?g ?b)))))
