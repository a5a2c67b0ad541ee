(define (problem returns-04)
  (:domain returns)
  (:objects
    uma vito - worker
    parcel1 parcel2 parcel3 parcel4 parcel5 parcel6 - parcel
    bench1 bench2 - bench
    shelf1 shelf2 shelf3 shelf4 - shelf
    mint worn broken - condition
    none one two three - count)
  (:init)
  (:goal (and)))
