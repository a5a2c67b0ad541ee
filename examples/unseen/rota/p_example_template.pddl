(define (problem rota-example)
  (:domain rota)
  (:objects
    nurse1 nurse2 - nurse
    ward1 - ward
    surgery - skill
    shift1 shift2 - shift)
  (:init)
  (:goal (and)))
