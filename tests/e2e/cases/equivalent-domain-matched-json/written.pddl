; Types, actions and parameters have other names; the parameters stand in another order.
(define (domain parcels)
  (:requirements :strips :typing)
  (:types place box)
  (:predicates
    (road ?from ?to - place)
    (van-at ?t - place)
    (parcel-at ?p - box ?t - place)
    (in-van ?p - box)
    (van-empty))
  (:action go
    :parameters (?from ?to - place)
    :precondition (and (van-at ?from) (road ?from ?to))
    :effect (and (van-at ?to) (not (van-at ?from))))
  (:action put-in
    :parameters (?where - place ?what - box)
    :precondition (and (van-at ?where) (parcel-at ?what ?where) (van-empty))
    :effect (and (in-van ?what) (not (parcel-at ?what ?where)) (not (van-empty))))
  (:action drop
    :parameters (?where - place ?what - box)
    :precondition (and (van-at ?where) (in-van ?what))
    :effect (and (parcel-at ?what ?where) (van-empty) (not (in-van ?what)))))
