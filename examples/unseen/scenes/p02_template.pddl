(define (problem scenes-02)
  (:domain scenes)
  (:objects
    ann bob cleo - hand
    sofa lamp piano tree throne - piece
    scene1 scene2 scene3 scene4 - scene)
  (:init)
  (:goal (and)))
