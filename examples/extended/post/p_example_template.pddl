(define (problem post-example)
  (:domain post)
  (:objects
    grafton denton - village
    letter1 - letter)
  (:init)
  (:goal (and)))
