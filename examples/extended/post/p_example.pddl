(define (problem post-example)
  (:domain post)
  (:objects
    grafton denton - village
    letter1 - letter)
  (:init
    (postman-at grafton)
    (road grafton denton)
    (road denton grafton)
    (= (riding-time grafton denton) 30)
    (= (riding-time denton grafton) 30)
    (lies-in letter1 grafton)
    (addressed-to letter1 denton)
    (at 5 (open grafton))
    (at 25 (not (open grafton)))
    (at 10 (open denton))
    (at 45 (not (open denton))))
  (:goal (and (delivered letter1)))
  (:metric minimize (total-time)))
