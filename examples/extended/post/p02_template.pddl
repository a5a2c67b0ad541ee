(define (problem post-02)
  (:domain post)
  (:objects
    barton corby denton - village
    letter1 letter2 - letter)
  (:init)
  (:goal (and)))
