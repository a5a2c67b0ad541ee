(define (domain storage)
  (:requirements :strips :typing)
  (:types cell cart box)
  (:predicates)
  (:action roll
    :parameters (?k - cart ?from ?to - cell)
    :precondition (and)
    :effect (and))
  (:action lift
    :parameters (?k - cart ?b - box ?here ?there - cell)
    :precondition (and)
    :effect (and))
  (:action set-down
    :parameters (?k - cart ?b - box ?here ?there - cell)
    :precondition (and)
    :effect (and)))
