(define (problem floortile-03)
  (:domain floortile)
  (:objects
    robot1 robot2 - robot
    tile0-0 tile0-1 tile0-2 tile1-0 tile1-1 tile1-2 tile2-0 tile2-1 tile2-2 - tile
    red blue - paint)
  (:init)
  (:goal (and)))
