(define (problem parcels-01)
  (:domain parcels)
  (:objects
    elm fir oak - town
    parcel1 parcel2 - parcel)
  (:init)
  (:goal (and)))
