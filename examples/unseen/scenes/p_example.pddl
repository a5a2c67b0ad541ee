(define (problem scenes-example)
  (:domain scenes)
  (:objects
    ann bob - hand
    sofa lamp piano - piece
    scene1 scene2 scene3 - scene)
  (:init
    (fit ann)
    (fit bob)
    (heavy piano)
    (followed-by scene1 scene2)
    (followed-by scene2 scene3)
    (belongs sofa scene2)
    (belongs lamp scene2)
    (belongs lamp scene3)
    (belongs piano scene3)
    (last-played scene1))
  (:goal (last-played scene3)))
