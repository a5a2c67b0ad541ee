(define (problem movie-04)
  (:domain movie)
  (:objects
    crisps-packet1 crisps-packet2 crisps-packet3 crisps-packet4 crisps-packet5 - crisps
    dip-packet1 dip-packet2 dip-packet3 dip-packet4 - dip
    pizza-packet1 pizza-packet2 pizza-packet3 pizza-packet4 - pizza
    cheese-packet1 cheese-packet2 cheese-packet3 cheese-packet4 - cheese
    biscuits-packet1 biscuits-packet2 biscuits-packet3 - biscuits)
  (:init)
  (:goal (and)))
