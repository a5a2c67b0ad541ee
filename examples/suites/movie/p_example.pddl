(define (problem movie-example)
  (:domain movie)
  (:objects
    crisps-packet1 - crisps
    dip-packet1 - dip
    pizza-packet1 - pizza
    cheese-packet1 - cheese
    biscuits-packet1 - biscuits)
  (:init
    (in-larder biscuits-packet1)
    (in-larder cheese-packet1)
    (in-larder crisps-packet1)
    (in-larder dip-packet1)
    (in-larder pizza-packet1))
  (:goal (and
           (tape-rewound)
           (counter-at-zero)
           (got-crisps)
           (got-dip)
           (got-pizza)
           (got-cheese)
           (got-biscuits))))
