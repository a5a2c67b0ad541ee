(define (problem post-03)
  (:domain post)
  (:objects
    barton farley elmley denton - village
    letter1 letter2 letter3 - letter)
  (:init)
  (:goal (and)))
