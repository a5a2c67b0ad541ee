(define (problem floortile-01)
  (:domain floortile)
  (:objects
    robot1 - robot
    tile0-0 tile0-1 tile1-0 tile1-1 - tile
    red blue - paint)
  (:init)
  (:goal (and)))
