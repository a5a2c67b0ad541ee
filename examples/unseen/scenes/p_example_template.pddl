(define (problem scenes-example)
  (:domain scenes)
  (:objects
    ann bob - hand
    sofa lamp piano - piece
    scene1 scene2 scene3 - scene)
  (:init)
  (:goal (and)))
