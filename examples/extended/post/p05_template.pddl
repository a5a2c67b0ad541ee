(define (problem post-05)
  (:domain post)
  (:objects
    farley elmley denton corby ashby - village
    letter1 letter2 letter3 letter4 - letter)
  (:init)
  (:goal (and)))
