; Written for planforge, a second time and independently: a warehouse takes goods back.
(define (domain returns)
  (:requirements :strips :typing :negative-preconditions
      :universal-preconditions :action-costs)
  (:types worker parcel bench shelf condition count)
  (:predicates
    (at-bench ?w - worker ?b - bench)
    (returned ?p - parcel) ; not opened yet
    (on-bench ?p - parcel ?b - bench)
    (bench-free ?b - bench)
    (state ?p - parcel ?c - condition) ; what it is really like
    (checked ?p - parcel)
    (for ?s - shelf ?c - condition)
    (worthless ?c - condition)
    (places ?s - shelf ?n - count) ; free places
    (one-less ?n ?m - count) ; m is one less than n
    (stored ?p - parcel ?s - shelf)
    (gone ?p - parcel))
  (:functions
    (distance ?b - bench ?s - shelf) - number
    (total-cost) - number)

  (:action open
    :parameters (?w - worker ?p - parcel ?b - bench)
    :precondition (and (at-bench ?w ?b) (returned ?p) (bench-free ?b))
    :effect (and
      (on-bench ?p ?b)
      (not (returned ?p))
      (not (bench-free ?b))
      (increase (total-cost) 2)))

  (:action check
    :parameters (?w - worker ?p - parcel ?b - bench)
    :precondition (and (at-bench ?w ?b) (on-bench ?p ?b) (not (checked ?p)))
    :effect (and (checked ?p) (increase (total-cost) 3)))

  (:action restock
    :parameters (?w - worker ?p - parcel ?b - bench ?s - shelf ?c - condition ?n
        ?m - count)
    :precondition (and
      (at-bench ?w ?b)
      (on-bench ?p ?b)
      (checked ?p)
      (state ?p ?c)
      (for ?s ?c)
      (places ?s ?n)
      (one-less ?n ?m))
    :effect (and
      (not (on-bench ?p ?b))
      (stored ?p ?s)
      (bench-free ?b)
      (not (places ?s ?n))
      (places ?s ?m)
      (increase (total-cost) (distance ?b ?s))))

  (:action scrap
    :parameters (?w - worker ?p - parcel ?b - bench ?c - condition)
    :precondition (and
      (at-bench ?w ?b)
      (on-bench ?p ?b)
      (checked ?p)
      (state ?p ?c)
      (worthless ?c))
    :effect (and
      (not (on-bench ?p ?b))
      (gone ?p)
      (bench-free ?b)
      (increase (total-cost) 1)))

  ; No worker is at the other bench; so it is another one indeed.
  (:action change-bench
    :parameters (?w - worker ?b ?e - bench)
    :precondition (and
      (at-bench ?w ?b)
      (forall (?v - worker) (not (at-bench ?v ?e))))
    :effect (and
      (not (at-bench ?w ?b))
      (at-bench ?w ?e)
      (increase (total-cost) 1))))
