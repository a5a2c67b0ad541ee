(define (problem scenes-03)
  (:domain scenes)
  (:objects
    ann bob cleo - hand
    sofa lamp piano tree throne door - piece
    scene1 scene2 scene3 scene4 - scene)
  (:init)
  (:goal (and)))
