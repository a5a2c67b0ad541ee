; Written for planforge: ferries carry cars between ports that are open in some phases of the tide.
(define (domain tides)
  (:requirements :strips :typing)
  (:types ferry car port phase)
  (:predicates
    (moored ?f - ferry ?p - port)
    (waits ?c - car ?p - port)
    (aboard ?c - car ?f - ferry)
    (room ?f - ferry)
    (now ?h - phase)
    (then ?h ?i - phase)
    (open ?p - port ?h - phase)
    (route ?p ?q - port))
  (:action board
    :parameters (?c - car ?f - ferry ?p - port)
    :precondition (and (waits ?c ?p) (moored ?f ?p) (room ?f))
    :effect (and (aboard ?c ?f) (not (waits ?c ?p)) (not (room ?f))))
  (:action land
    :parameters (?c - car ?f - ferry ?p - port)
    :precondition (and (aboard ?c ?f) (moored ?f ?p))
    :effect (and (waits ?c ?p) (room ?f) (not (aboard ?c ?f))))
  (:action cross
    :parameters (?f - ferry ?p ?q - port ?h ?i - phase)
    :precondition (and (moored ?f ?p) (route ?p ?q) (now ?h) (then ?h ?i) (open ?p ?h) (open ?q ?i))
    :effect (and (moored ?f ?q) (not (moored ?f ?p)) (now ?i) (not (now ?h))))
  (:action wait-tide
    :parameters (?h ?i - phase)
    :precondition (and (now ?h) (then ?h ?i))
    :effect (and (now ?i) (not (now ?h)))))
