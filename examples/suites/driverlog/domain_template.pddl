(define (domain driverlog)
  (:requirements :strips :typing)
  (:types place driver truck package)
  (:predicates)
  (:action load
    :parameters (?k - package ?t - truck ?p - place)
    :precondition (and)
    :effect (and))
  (:action unload
    :parameters (?k - package ?t - truck ?p - place)
    :precondition (and)
    :effect (and))
  (:action get-in
    :parameters (?d - driver ?t - truck ?p - place)
    :precondition (and)
    :effect (and))
  (:action get-out
    :parameters (?d - driver ?t - truck ?p - place)
    :precondition (and)
    :effect (and))
  (:action drive
    :parameters (?d - driver ?t - truck ?from ?to - place)
    :precondition (and)
    :effect (and))
  (:action walk
    :parameters (?d - driver ?from ?to - place)
    :precondition (and)
    :effect (and)))
