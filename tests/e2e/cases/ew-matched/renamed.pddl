; One action has another name.
(define (domain parcels)
  (:requirements :strips :typing)
  (:types town parcel)
  (:predicates
    (road ?from ?to - town)
    (van-at ?t - town)
    (parcel-at ?p - parcel ?t - town)
    (in-van ?p - parcel)
    (van-empty))
  (:action drive
    :parameters (?from ?to - town)
    :precondition (and (van-at ?from) (road ?from ?to))
    :effect (and (van-at ?to) (not (van-at ?from))))
  (:action load
    :parameters (?p - parcel ?t - town)
    :precondition (and (van-at ?t) (parcel-at ?p ?t) (van-empty))
    :effect (and (in-van ?p) (not (parcel-at ?p ?t)) (not (van-empty))))
  (:action drop
    :parameters (?p - parcel ?t - town)
    :precondition (and (van-at ?t) (in-van ?p))
    :effect (and (parcel-at ?p ?t) (van-empty) (not (in-van ?p)))))
