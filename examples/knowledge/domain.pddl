; Written for planforge: trolleys take books from shelf to shelf.
(define (domain library)
  (:requirements :strips :typing)
  (:types shelf trolley book)
  (:predicates
    (next-to ?a ?b - shelf)
    (trolley-at ?t - trolley ?s - shelf)
    (book-on ?b - book ?s - shelf)
    (carries ?t - trolley ?b - book)
    (empty ?t - trolley)
    (has-space ?s - shelf))
  (:action roll
    :parameters (?t - trolley ?from ?to - shelf)
    :precondition (and (trolley-at ?t ?from) (next-to ?from ?to))
    :effect (and (trolley-at ?t ?to) (not (trolley-at ?t ?from))))
  (:action take
    :parameters (?t - trolley ?b - book ?s - shelf)
    :precondition (and (trolley-at ?t ?s) (book-on ?b ?s) (empty ?t))
    :effect (and (carries ?t ?b) (has-space ?s) (not (book-on ?b ?s)) (not (empty ?t))))
  (:action put
    :parameters (?t - trolley ?b - book ?s - shelf)
    :precondition (and (trolley-at ?t ?s) (carries ?t ?b) (has-space ?s))
    :effect (and (book-on ?b ?s) (empty ?t) (not (carries ?t ?b)) (not (has-space ?s)))))
