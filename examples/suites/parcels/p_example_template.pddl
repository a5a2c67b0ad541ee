(define (problem parcels-example)
  (:domain parcels)
  (:objects
    ash birch - town
    parcel1 - parcel)
  (:init)
  (:goal (and)))
