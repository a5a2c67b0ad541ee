(define (problem scenes-01)
  (:domain scenes)
  (:objects
    ann bob cleo - hand
    sofa lamp piano tree - piece
    scene1 scene2 scene3 - scene)
  (:init
    (fit ann)
    (fit cleo)
    (heavy piano)
    (heavy lamp)
    (followed-by scene1 scene2)
    (belongs lamp scene1)
    (belongs piano scene1)
    (belongs tree scene1)
    (followed-by scene2 scene3)
    (belongs sofa scene2)
    (belongs piano scene2)
    (belongs sofa scene3)
    (last-played scene1)
    (on-stage lamp)
    (on-stage piano)
    (on-stage tree))
  (:goal (last-played scene3)))
