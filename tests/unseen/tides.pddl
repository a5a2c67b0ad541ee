; Written for planforge, a second time and independently: ferries carry cars between ports with tides.
(define (domain tides)
  (:requirements :strips :typing)
  (:types ferry car port phase)
  (:predicates
    (moored ?f - ferry ?p - port)
    (waits ?c - car ?p - port)
    (aboard ?c - car ?f - ferry)
    (room ?f - ferry)
    (now ?h - phase)
    (then ?h ?i - phase) ; phase i comes after h
    (open ?p - port ?h - phase)
    (route ?p ?q - port))

  (:action board
    :parameters (?c - car ?f - ferry ?p - port)
    :precondition (and (moored ?f ?p) (waits ?c ?p) (room ?f))
    :effect (and (aboard ?c ?f) (not (waits ?c ?p)) (not (room ?f))))

  (:action land
    :parameters (?c - car ?f - ferry ?p - port)
    :precondition (and (moored ?f ?p) (aboard ?c ?f))
    :effect (and (waits ?c ?p) (not (aboard ?c ?f)) (room ?f)))

  ; The ferry leaves in phase h and arrives in phase i.
  (:action cross
    :parameters (?f - ferry ?p ?q - port ?h ?i - phase)
    :precondition (and
      (moored ?f ?p)
      (route ?p ?q)
      (now ?h)
      (then ?h ?i)
      (open ?p ?h)
      (open ?q ?i))
    :effect (and (not (moored ?f ?p)) (moored ?f ?q) (not (now ?h)) (now ?i)))

  (:action wait-tide
    :parameters (?h ?i - phase)
    :precondition (and (now ?h) (then ?h ?i))
    :effect (and (not (now ?h)) (now ?i))))
