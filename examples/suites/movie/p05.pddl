(define (problem movie-05)
  (:domain movie)
  (:objects
    crisps-packet1 crisps-packet2 crisps-packet3 crisps-packet4 crisps-packet5 - crisps
    dip-packet1 dip-packet2 dip-packet3 dip-packet4 dip-packet5 dip-packet6 - dip
    pizza-packet1 pizza-packet2 pizza-packet3 pizza-packet4 pizza-packet5 - pizza
    cheese-packet1 cheese-packet2 cheese-packet3 - cheese
    biscuits-packet1 biscuits-packet2 biscuits-packet3 biscuits-packet4 - biscuits)
  (:init
    (in-larder biscuits-packet2)
    (in-larder biscuits-packet3)
    (in-larder biscuits-packet4)
    (in-larder cheese-packet1)
    (in-larder cheese-packet2)
    (in-larder cheese-packet3)
    (in-larder crisps-packet1)
    (in-larder crisps-packet3)
    (in-larder dip-packet1)
    (in-larder dip-packet2)
    (in-larder dip-packet3)
    (in-larder dip-packet4)
    (in-larder dip-packet5)
    (in-larder pizza-packet3))
  (:goal (and
           (tape-rewound)
           (counter-at-zero)
           (got-crisps)
           (got-dip)
           (got-pizza)
           (got-cheese)
           (got-biscuits))))
