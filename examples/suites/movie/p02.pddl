(define (problem movie-02)
  (:domain movie)
  (:objects
    crisps-packet1 crisps-packet2 - crisps
    dip-packet1 dip-packet2 dip-packet3 - dip
    pizza-packet1 pizza-packet2 - pizza
    cheese-packet1 cheese-packet2 cheese-packet3 - cheese
    biscuits-packet1 biscuits-packet2 biscuits-packet3 - biscuits)
  (:init
    (in-larder biscuits-packet1)
    (in-larder biscuits-packet2)
    (in-larder biscuits-packet3)
    (in-larder cheese-packet2)
    (in-larder crisps-packet2)
    (in-larder dip-packet2)
    (in-larder pizza-packet1)
    (in-larder pizza-packet2)
    (counter-at-zero))
  (:goal (and
           (tape-rewound)
           (counter-at-zero)
           (got-crisps)
           (got-dip)
           (got-pizza)
           (got-cheese)
           (got-biscuits))))
