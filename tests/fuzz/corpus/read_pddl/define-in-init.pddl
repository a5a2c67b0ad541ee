(define (domaine (doa(define (problem two) (:domain lamps)
  (:objects desk shelf`- lamp)
  (:init 8wired define (domaine (doatthall desk) (not (li (lit (define (domain d) (:predicates (p ?x) (q)
 (:action a :parameters (?x :precondition (parameters (?x)
  :duration (and ( (:action b :pshelf) (lit hall))))))+
arameters () :effect (q