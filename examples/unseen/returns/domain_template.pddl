(define (domain returns)
  (:requirements :strips :typing)
  (:types worker parcel bench shelf condition count)
  (:predicates)
  (:action open
    :parameters (?w - worker ?p - parcel ?b - bench)
    :precondition (and)
    :effect (and))
  (:action check
    :parameters (?w - worker ?p - parcel ?b - bench)
    :precondition (and)
    :effect (and))
  (:action restock
    :parameters (?w - worker ?p - parcel ?b - bench ?s - shelf ?c - condition ?n ?m - count)
    :precondition (and)
    :effect (and))
  (:action scrap
    :parameters (?w - worker ?p - parcel ?b - bench ?c - condition)
    :precondition (and)
    :effect (and))
  (:action change-bench
    :parameters (?w - worker ?b ?e - bench)
    :precondition (and)
    :effect (and)))
