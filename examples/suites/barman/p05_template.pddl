(define (problem barman-05)
  (:domain barman)
  (:objects
    shaker1 - shaker
    left right - hand
    glass1 glass2 glass3 glass4 - glass
    ingredient1 ingredient2 ingredient3 ingredient4 - ingredient
    cocktail1 cocktail2 - cocktail
    dispenser1 dispenser2 dispenser3 dispenser4 - dispenser
    level0 level1 level2 - level)
  (:init)
  (:goal (and)))
