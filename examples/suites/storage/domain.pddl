; Written for planforge: carts and boxes that are in each other's way.
(define (domain storage)
  (:requirements :strips :typing)
  (:types cell cart box)
  (:predicates
    (joined ?a ?b - cell)
    (cart-on ?k - cart ?c - cell)
    (box-on ?b - box ?c - cell)
    (vacant ?c - cell)
    (carries ?k - cart ?b - box)
    (unladen ?k - cart))
  (:action roll
    :parameters (?k - cart ?from ?to - cell)
    :precondition (and (cart-on ?k ?from) (joined ?from ?to) (vacant ?to))
    :effect (and (cart-on ?k ?to) (vacant ?from) (not (cart-on ?k ?from)) (not (vacant ?to))))
  (:action lift
    :parameters (?k - cart ?b - box ?here ?there - cell)
    :precondition (and (cart-on ?k ?here) (joined ?here ?there) (box-on ?b ?there) (unladen ?k))
    :effect (and (carries ?k ?b) (vacant ?there) (not (box-on ?b ?there)) (not (unladen ?k))))
  (:action set-down
    :parameters (?k - cart ?b - box ?here ?there - cell)
    :precondition (and (cart-on ?k ?here) (joined ?here ?there) (carries ?k ?b) (vacant ?there))
    :effect (and (box-on ?b ?there) (unladen ?k) (not (carries ?k ?b)) (not (vacant ?there)))))
