(define (problem returns-example)
  (:domain returns)
  (:objects
    uma - worker
    parcel1 parcel2 - parcel
    bench1 - bench
    shelf1 shelf2 shelf3 - shelf
    mint worn broken - condition
    none one two three - count)
  (:init)
  (:goal (and)))
