; Written for planforge, a second time and independently: a robot arm carries plates between devices.
(define (domain lab)
  (:requirements :strips :typing :negative-preconditions
      :existential-preconditions :derived-predicates :conditional-effects)
  (:types arm plate device step)
  (:predicates
    (holds ?a - arm ?p - plate)
    (free ?a - arm)
    (in ?p - plate ?d - device)
    (offers ?d - device ?s - step)
    (after ?s ?t - step) ; t comes after s
    (due ?p - plate ?s - step)
    (hazardous ?p - plate)
    (contaminated ?d - device)
    (washable ?d - device)
    (empty ?d - device)) ; derived

  ; No plate is in the device.
  (:derived (empty ?d - device) (not (exists (?p - plate) (in ?p ?d))))

  (:action pick
    :parameters (?a - arm ?p - plate ?d - device)
    :precondition (and (free ?a) (in ?p ?d))
    :effect (and (holds ?a ?p) (not (free ?a)) (not (in ?p ?d))))

  (:action place
    :parameters (?a - arm ?p - plate ?d - device)
    :precondition (and (holds ?a ?p) (empty ?d))
    :effect (and (in ?p ?d) (not (holds ?a ?p)) (free ?a)))

  (:action process
    :parameters (?p - plate ?d - device ?s ?t - step)
    :precondition (and
      (in ?p ?d)
      (due ?p ?s)
      (offers ?d ?s)
      (after ?s ?t)
      (not (contaminated ?d)))
    :effect (and
      (not (due ?p ?s))
      (due ?p ?t)
      (when (hazardous ?p) (contaminated ?d))))

  (:action wash
    :parameters (?d - device)
    :precondition (and (empty ?d) (washable ?d) (contaminated ?d))
    :effect (not (contaminated ?d))))
