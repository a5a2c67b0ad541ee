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
  (:init
    (on-counter shaker1)
    (clean shaker1)
    (empty shaker1)
    (hand-free left)
    (hand-free right)
    (on-counter glass1)
    (clean glass1)
    (empty glass1)
    (on-counter glass2)
    (clean glass2)
    (empty glass2)
    (pours dispenser1 ingredient1)
    (pours dispenser2 ingredient2)
    (pours dispenser3 ingredient3)
    (first-part cocktail1 ingredient3)
    (second-part cocktail1 ingredient1)
    (first-part cocktail2 ingredient2)
    (second-part cocktail2 ingredient3)
    (filled-to shaker1 level0)
    (lowest shaker1 level0)
    (followed-by level0 level1)
    (followed-by level1 level2))
  (:goal (and (holds-drink glass2 cocktail2))))
