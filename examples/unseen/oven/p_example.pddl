(define (problem oven-example)
  (:domain oven)
  (:objects
    bread quiche - dish
    gentle low - heat)
  (:init
    (next-hotter gentle low)
    (hotter low gentle)
    (set-to low)
    (needs bread gentle)
    (raw bread)
    (needs quiche low)
    (raw quiche))
  (:goal (and
           (done bread)
           (not (spoilt bread))
           (done quiche)
           (not (spoilt quiche))
           (not (inside quiche)))))
