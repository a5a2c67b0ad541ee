(define (problem rota-03)
  (:domain rota)
  (:objects
    nurse1 nurse2 nurse3 nurse4 nurse5 - nurse
    ward1 ward2 - ward
    surgery children hearts - skill
    shift1 shift2 shift3 shift4 - shift)
  (:init)
  (:goal (and)))
