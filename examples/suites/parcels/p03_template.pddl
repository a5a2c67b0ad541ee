(define (problem parcels-03)
  (:domain parcels)
  (:objects
    mill quay inn - town
    grain fish - parcel)
  (:init)
  (:goal (and)))
