(define (problem floortile-example)
  (:domain floortile)
  (:objects
    robot1 - robot
    tile0-0 tile0-1 tile1-0 tile1-1 - tile
    red blue - paint)
  (:init
    (north-of tile1-0 tile0-0)
    (north-of tile1-1 tile0-1)
    (east-of tile0-1 tile0-0)
    (east-of tile1-1 tile1-0)
    (stands robot1 tile1-1)
    (loaded robot1 blue)
    (free tile0-0)
    (free tile0-1)
    (free tile1-0)
    (in-stock red)
    (in-stock blue))
  (:goal (and (painted tile1-0 blue) (painted tile1-1 red))))
