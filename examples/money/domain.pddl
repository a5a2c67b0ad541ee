; Written for planforge: a stall with jam. Money, prices that differ between towns, a basket that holds little.
(define (domain jam-stall)
  (:requirements :typing :negative-preconditions :numeric-fluents)
  (:types town)
  (:predicates
    (at ?t - town)
    (road ?from ?to - town)
    (stove ?t - town)
    (has-licence))
  (:functions
    (money)
    (fare ?from ?to - town)
    (plum-price ?t - town)          ; for a kilogram
    (supply ?t - town)              ; kilograms of plums that are for sale
    (jam-price ?t - town)           ; for a jar
    (plums)
    (jars)
    (basket)                        ; most plums and jars together
    (licence-fee))
  (:action ride
    :parameters (?from ?to - town)
    :precondition (and (at ?from) (road ?from ?to) (>= (money) (fare ?from ?to)))
    :effect (and (not (at ?from)) (at ?to) (decrease (money) (fare ?from ?to))))
  (:action buy-plums
    :parameters (?t - town)
    :precondition (and (at ?t) (>= (supply ?t) 1) (>= (money) (plum-price ?t)) (<= (+ (plums) (jars) 1) (basket)))
    :effect (and (increase (plums) 1) (decrease (supply ?t) 1) (decrease (money) (plum-price ?t))))
  (:action cook
    :parameters (?t - town)
    :precondition (and (at ?t) (stove ?t) (>= (plums) 2))
    :effect (and (decrease (plums) 2) (increase (jars) 1.5)))
  (:action sell-jar
    :parameters (?t - town)
    :precondition (and (at ?t) (has-licence) (> (jam-price ?t) 0) (>= (jars) 1))
    :effect (and (decrease (jars) 1) (increase (money) (jam-price ?t))))
  (:action buy-licence
    :parameters ()
    :precondition (and (not (has-licence)) (>= (money) (licence-fee)))
    :effect (and (has-licence) (decrease (money) (licence-fee)))))
