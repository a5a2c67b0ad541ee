(define (problem scenes-04)
  (:domain scenes)
  (:objects
    ann bob cleo dirk - hand
    sofa lamp piano tree throne door fountain - piece
    scene1 scene2 scene3 scene4 scene5 - scene)
  (:init)
  (:goal (and)))
