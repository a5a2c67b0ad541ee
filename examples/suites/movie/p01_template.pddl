(define (problem movie-01)
  (:domain movie)
  (:objects
    crisps-packet1 crisps-packet2 - crisps
    dip-packet1 - dip
    pizza-packet1 - pizza
    cheese-packet1 cheese-packet2 - cheese
    biscuits-packet1 - biscuits)
  (:init)
  (:goal (and)))
