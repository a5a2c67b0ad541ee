(define (problem barman-example)
  (:domain barman)
  (:objects
    shaker1 - shaker
    left right - hand
    glass1 glass2 - glass
    ingredient1 ingredient2 ingredient3 - ingredient
    cocktail1 cocktail2 - cocktail
    dispenser1 dispenser2 dispenser3 - dispenser
    level0 level1 level2 - level)
  (:init)
  (:goal (and)))
