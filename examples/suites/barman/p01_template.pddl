(define (problem barman-01)
  (:domain barman)
  (:objects
    shaker1 - shaker
    left right - hand
    glass1 glass2 - glass
    ingredient1 ingredient2 - ingredient
    cocktail1 - cocktail
    dispenser1 dispenser2 - dispenser
    level0 level1 level2 - level)
  (:init)
  (:goal (and)))
