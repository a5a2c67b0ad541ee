(define (domain post)
  (:requirements :strips :typing :durative-actions :numeric-fluents :timed-initial-literals)
  (:types village letter)
  (:predicates)
  (:durative-action ride
    :parameters (?from ?to - village)
    :duration ()
    :condition (and)
    :effect (and))
  (:durative-action collect
    :parameters (?l - letter ?v - village)
    :duration ()
    :condition (and)
    :effect (and))
  (:durative-action deliver
    :parameters (?l - letter ?v - village)
    :duration ()
    :condition (and)
    :effect (and)))
