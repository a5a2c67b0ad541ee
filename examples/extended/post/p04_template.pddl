(define (problem post-04)
  (:domain post)
  (:objects
    barton grafton elmley corby - village
    letter1 letter2 letter3 - letter)
  (:init)
  (:goal (and)))
