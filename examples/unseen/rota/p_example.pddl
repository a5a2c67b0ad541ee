(define (problem rota-example)
  (:domain rota)
  (:objects
    nurse1 nurse2 - nurse
    ward1 - ward
    surgery - skill
    shift1 shift2 - shift)
  (:init
    (directly-before shift1 shift2)
    (needs ward1 surgery)
    (has nurse1 surgery)
    (has nurse2 surgery)
    (available nurse1 shift1)
    (available nurse1 shift2)
    (available nurse2 shift1)
    (available nurse2 shift2)
    (= (rate nurse1) 5)
    (= (rate nurse2) 1)
    (= (total-cost) 0))
  (:goal (and (filled ward1 shift1) (filled ward1 shift2)))
  (:metric minimize (total-cost)))
