; Written for planforge: shopping at market stalls with little money and a bag that holds only so much.
(define (domain market)
  (:requirements :strips :typing :equality :numeric-fluents)
  (:types place ware)
  (:constants home - place)
  (:predicates
    (shopper-at ?p - place)
    (sold-at ?w - ware ?p - place)
    (takes-bottles ?p - place))
  (:functions
    (money)
    (bottles)
    (deposit)
    (bottle-weight)
    (load)
    (capacity)
    (walked)
    (distance ?a ?b - place)
    (price ?w - ware ?p - place)
    (weight ?w - ware)
    (in-bag ?w - ware)
    (at-home ?w - ware))
  (:action walk
    :parameters (?from ?to - place)
    :precondition (and (shopper-at ?from) (not (= ?from ?to)))
    :effect (and
      (shopper-at ?to)
      (not (shopper-at ?from))
      (increase (walked) (distance ?from ?to))))
  (:action return-bottle
    :parameters (?p - place)
    :precondition (and (shopper-at ?p) (takes-bottles ?p) (>= (bottles) 1))
    :effect (and
      (decrease (bottles) 1)
      (decrease (load) (bottle-weight))
      (increase (money) (deposit))))
  (:action buy
    :parameters (?w - ware ?p - place)
    :precondition (and
      (shopper-at ?p)
      (sold-at ?w ?p)
      (>= (money) (price ?w ?p))
      (<= (+ (load) (weight ?w)) (capacity)))
    :effect (and
      (decrease (money) (price ?w ?p))
      (increase (load) (weight ?w))
      (increase (in-bag ?w) 1)))
  (:action unpack
    :parameters (?w - ware)
    :precondition (and (shopper-at home) (>= (in-bag ?w) 1))
    :effect (and
      (decrease (in-bag ?w) 1)
      (decrease (load) (weight ?w))
      (increase (at-home ?w) 1))))
