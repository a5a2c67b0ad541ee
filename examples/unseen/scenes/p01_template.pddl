(define (problem scenes-01)
  (:domain scenes)
  (:objects
    ann bob cleo - hand
    sofa lamp piano tree - piece
    scene1 scene2 scene3 - scene)
  (:init)
  (:goal (and)))
