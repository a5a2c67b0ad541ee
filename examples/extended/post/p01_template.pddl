(define (problem post-01)
  (:domain post)
  (:objects
    farley ashby elmley - village
    letter1 letter2 - letter)
  (:init)
  (:goal (and)))
