; Written for planforge: drivers on foot, trucks on roads, packages in trucks.
(define (domain driverlog)
  (:requirements :strips :typing)
  (:types place driver truck package)
  (:predicates
    (road ?from ?to - place)
    (footpath ?from ?to - place)
    (driver-at ?d - driver ?p - place)
    (truck-at ?t - truck ?p - place)
    (package-at ?k - package ?p - place)
    (drives ?d - driver ?t - truck)
    (in-truck ?k - package ?t - truck)
    (unmanned ?t - truck))
  (:action load
    :parameters (?k - package ?t - truck ?p - place)
    :precondition (and (package-at ?k ?p) (truck-at ?t ?p))
    :effect (and (in-truck ?k ?t) (not (package-at ?k ?p))))
  (:action unload
    :parameters (?k - package ?t - truck ?p - place)
    :precondition (and (in-truck ?k ?t) (truck-at ?t ?p))
    :effect (and (package-at ?k ?p) (not (in-truck ?k ?t))))
  (:action get-in
    :parameters (?d - driver ?t - truck ?p - place)
    :precondition (and (driver-at ?d ?p) (truck-at ?t ?p) (unmanned ?t))
    :effect (and (drives ?d ?t) (not (driver-at ?d ?p)) (not (unmanned ?t))))
  (:action get-out
    :parameters (?d - driver ?t - truck ?p - place)
    :precondition (and (drives ?d ?t) (truck-at ?t ?p))
    :effect (and (driver-at ?d ?p) (unmanned ?t) (not (drives ?d ?t))))
  (:action drive
    :parameters (?d - driver ?t - truck ?from ?to - place)
    :precondition (and (drives ?d ?t) (truck-at ?t ?from) (road ?from ?to))
    :effect (and (truck-at ?t ?to) (not (truck-at ?t ?from))))
  (:action walk
    :parameters (?d - driver ?from ?to - place)
    :precondition (and (driver-at ?d ?from) (footpath ?from ?to))
    :effect (and (driver-at ?d ?to) (not (driver-at ?d ?from)))))
