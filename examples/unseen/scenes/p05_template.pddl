(define (problem scenes-05)
  (:domain scenes)
  (:objects
    ann bob cleo dirk - hand
    sofa lamp piano tree throne door fountain ladder - piece
    scene1 scene2 scene3 scene4 scene5 - scene)
  (:init)
  (:goal (and)))
