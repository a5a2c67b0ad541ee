(define (problem parcels-02)
  (:domain parcels)
  (:objects
    north east south west - town
    letterbox crate - parcel)
  (:init)
  (:goal (and)))
