; Written for planforge: an arm carries plates between devices, which hazardous plates contaminate.
(define (domain lab)
  (:requirements :strips :typing :negative-preconditions :existential-preconditions :conditional-effects
    :derived-predicates)
  (:types arm plate device step)
  (:predicates
    (holds ?a - arm ?p - plate)
    (free ?a - arm)
    (in ?p - plate ?d - device)
    (offers ?d - device ?s - step)
    (after ?s ?t - step)
    (due ?p - plate ?s - step)
    (hazardous ?p - plate)
    (contaminated ?d - device)
    (washable ?d - device)
    (empty ?d - device))
  (:derived (empty ?d - device) (not (exists (?p - plate) (in ?p ?d))))
  (:action pick
    :parameters (?a - arm ?p - plate ?d - device)
    :precondition (and (free ?a) (in ?p ?d))
    :effect (and (holds ?a ?p) (not (free ?a)) (not (in ?p ?d))))
  (:action place
    :parameters (?a - arm ?p - plate ?d - device)
    :precondition (and (holds ?a ?p) (empty ?d))
    :effect (and (in ?p ?d) (free ?a) (not (holds ?a ?p))))
  (:action process
    :parameters (?p - plate ?d - device ?s ?t - step)
    :precondition (and (in ?p ?d) (offers ?d ?s) (due ?p ?s) (after ?s ?t) (not (contaminated ?d)))
    :effect (and (due ?p ?t) (not (due ?p ?s)) (when (hazardous ?p) (contaminated ?d))))
  (:action wash
    :parameters (?d - device)
    :precondition (and (empty ?d) (washable ?d) (contaminated ?d))
    :effect (not (contaminated ?d))))
