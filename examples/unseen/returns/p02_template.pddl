(define (problem returns-02)
  (:domain returns)
  (:objects
    uma - worker
    parcel1 parcel2 parcel3 parcel4 - parcel
    bench1 bench2 - bench
    shelf1 shelf2 shelf3 - shelf
    mint worn broken - condition
    none one two three - count)
  (:init)
  (:goal (and)))
