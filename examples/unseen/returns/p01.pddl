(define (problem returns-01)
  (:domain returns)
  (:objects
    uma - worker
    parcel1 parcel2 parcel3 - parcel
    bench1 - bench
    shelf1 shelf2 shelf3 - shelf
    mint worn broken - condition
    none one two three - count)
  (:init
    (at-bench uma bench1)
    (bench-free bench1)
    (returned parcel1)
    (state parcel1 broken)
    (returned parcel2)
    (state parcel2 broken)
    (returned parcel3)
    (state parcel3 worn)
    (worthless broken)
    (for shelf1 mint)
    (places shelf1 none)
    (= (distance bench1 shelf1) 3)
    (for shelf2 worn)
    (places shelf2 one)
    (= (distance bench1 shelf2) 3)
    (for shelf3 mint)
    (for shelf3 worn)
    (places shelf3 none)
    (= (distance bench1 shelf3) 1)
    (one-less one none)
    (one-less two one)
    (one-less three two)
    (= (total-cost) 0))
  (:goal (and
           (not (returned parcel1))
           (not (returned parcel2))
           (not (returned parcel3))
           (bench-free bench1)))
  (:metric minimize (total-cost)))
