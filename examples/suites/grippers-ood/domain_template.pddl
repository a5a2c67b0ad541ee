(define (domain grippers-ood)
  (:requirements :strips :typing :negative-preconditions)
  (:types room robot gripper ball)
  (:predicates)
  (:action go
    :parameters (?r - robot ?from ?to - room)
    :precondition (and)
    :effect (and))
  (:action grasp
    :parameters (?r - robot ?g - gripper ?b - ball ?place - room)
    :precondition (and)
    :effect (and))
  (:action release
    :parameters (?r - robot ?g - gripper ?b - ball ?place - room)
    :precondition (and)
    :effect (and))
  (:action air-out
    :parameters (?place - room)
    :precondition (and)
    :effect (and)))
