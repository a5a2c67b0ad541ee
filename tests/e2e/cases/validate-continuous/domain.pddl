(define (domain tub)
  (:requirements :durative-actions :fluents :continuous-effects)
  (:functions (level))
  (:durative-action fill
    :parameters ()
    :duration (= ?duration 5)
    :condition (at start (< (level) 10))
    :effect (increase (level) (* #t 2))))
