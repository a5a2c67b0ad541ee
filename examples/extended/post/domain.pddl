; Written for planforge: a postman rides between villages whose offices are open at certain hours. Times are minutes after 8:00.
(define (domain post)
  (:requirements :strips :typing :durative-actions :numeric-fluents
      :timed-initial-literals)
  (:types village letter)
  (:predicates
    (postman-at ?v - village)
    (road ?a ?b - village)
    (open ?v - village)
    (lies-in ?l - letter ?v - village)
    (carried ?l - letter)
    (addressed-to ?l - letter ?v - village)
    (delivered ?l - letter))
  (:functions (riding-time ?a ?b - village))
  (:durative-action ride
    :parameters (?from ?to - village)
    :duration (= ?duration (riding-time ?from ?to))
    :condition (and (at start (postman-at ?from)) (at start (road ?from ?to)))
    :effect (and (at start (not (postman-at ?from))) (at end (postman-at ?to))))
  (:durative-action collect
    :parameters (?l - letter ?v - village)
    :duration (= ?duration 2)
    :condition (and
      (at start (lies-in ?l ?v))
      (over all (postman-at ?v))
      (over all (open ?v)))
    :effect (and (at start (not (lies-in ?l ?v))) (at end (carried ?l))))
  (:durative-action deliver
    :parameters (?l - letter ?v - village)
    :duration (= ?duration 3)
    :condition (and
      (at start (carried ?l))
      (at start (addressed-to ?l ?v))
      (over all (postman-at ?v))
      (over all (open ?v)))
    :effect (and (at start (not (carried ?l))) (at end (delivered ?l)))))
