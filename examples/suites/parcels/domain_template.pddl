(define (domain parcels)
  (:requirements :strips :typing)
  (:types town parcel)
  (:predicates)
  (:action drive
    :parameters (?from ?to - town)
    :precondition (and)
    :effect (and))
  (:action load
    :parameters (?p - parcel ?t - town)
    :precondition (and)
    :effect (and))
  (:action unload
    :parameters (?p - parcel ?t - town)
    :precondition (and)
    :effect (and)))
