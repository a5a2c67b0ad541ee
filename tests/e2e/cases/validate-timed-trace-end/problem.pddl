(define (problem day)
  (:domain shop)
  (:init (open) (at 0.5 (not (open))) (at 9 (paid)))
  (:goal (and (served) (paid))))
