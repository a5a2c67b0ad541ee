; Written for planforge, a second time and independently: a clinic fills its rota.
(define (domain rota)
  (:requirements :strips :typing :negative-preconditions
      :disjunctive-preconditions :universal-preconditions :derived-predicates
      :conditional-effects :action-costs)
  (:types nurse ward skill shift)
  (:predicates
    (has ?n - nurse ?k - skill)
    (needs ?w - ward ?k - skill)
    (directly-before ?s ?t - shift) ; s is directly before t
    (available ?n - nurse ?s - shift)
    (works ?n - nurse ?w - ward ?s - shift)
    (filled ?w - ward ?s - shift)
    (qualified ?n - nurse ?w - ward)) ; derived
  (:functions
    (rate ?n - nurse) - number
    (total-cost) - number)

  ; A nurse is qualified for a ward with all the skills that it needs.
  (:derived (qualified ?n - nurse ?w - ward)
    (forall (?k - skill) (imply (needs ?w ?k) (has ?n ?k))))

  (:action assign
    :parameters (?n - nurse ?w - ward ?s - shift)
    :precondition (and (qualified ?n ?w) (available ?n ?s) (not (filled ?w ?s)))
    :effect (and
      (works ?n ?w ?s)
      (filled ?w ?s)
      (not (available ?n ?s))
      (forall (?t - shift)
        (when (directly-before ?t ?s) (not (available ?n ?t))))
      (forall (?t - shift)
        (when (directly-before ?s ?t) (not (available ?n ?t))))
      (increase (total-cost) (rate ?n))))

  ; The rest around the shift is not given back: only the shift itself is.
  (:action withdraw
    :parameters (?n - nurse ?w - ward ?s - shift)
    :precondition (works ?n ?w ?s)
    :effect (and
      (not (works ?n ?w ?s))
      (not (filled ?w ?s))
      (available ?n ?s)
      (increase (total-cost) 1))))
