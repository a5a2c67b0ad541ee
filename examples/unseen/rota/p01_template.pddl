(define (problem rota-01)
  (:domain rota)
  (:objects
    nurse1 nurse2 nurse3 nurse4 - nurse
    ward1 ward2 - ward
    surgery children - skill
    shift1 shift2 shift3 - shift)
  (:init)
  (:goal (and)))
