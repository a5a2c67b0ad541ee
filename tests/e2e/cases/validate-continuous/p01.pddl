(define (problem tub-01) (:domain tub) (:init (= (level) 0)) (:goal (>= (level) 10)))
