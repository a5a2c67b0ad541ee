; Written for planforge: nurses with skills and rates fill the shifts of wards and rest in between.
(define (domain rota)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions :universal-preconditions
    :conditional-effects :derived-predicates :action-costs)
  (:types nurse ward skill shift)
  (:predicates
    (has ?n - nurse ?k - skill)
    (needs ?w - ward ?k - skill)
    (directly-before ?s ?t - shift)
    (available ?n - nurse ?s - shift)
    (works ?n - nurse ?w - ward ?s - shift)
    (filled ?w - ward ?s - shift)
    (qualified ?n - nurse ?w - ward))
  (:functions
    (rate ?n - nurse) - number
    (total-cost) - number)
  (:derived (qualified ?n - nurse ?w - ward)
    (forall (?k - skill) (or (not (needs ?w ?k)) (has ?n ?k))))
  (:action assign
    :parameters (?n - nurse ?w - ward ?s - shift)
    :precondition (and (qualified ?n ?w) (available ?n ?s) (not (filled ?w ?s)))
    :effect (and (works ?n ?w ?s) (filled ?w ?s) (not (available ?n ?s))
      (forall (?t - shift)
        (when (or (directly-before ?s ?t) (directly-before ?t ?s)) (not (available ?n ?t))))
      (increase (total-cost) (rate ?n))))
  (:action withdraw
    :parameters (?n - nurse ?w - ward ?s - shift)
    :precondition (works ?n ?w ?s)
    :effect (and (not (works ?n ?w ?s)) (not (filled ?w ?s)) (available ?n ?s)
      (increase (total-cost) 1))))
