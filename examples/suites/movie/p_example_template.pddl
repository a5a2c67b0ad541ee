(define (problem movie-example)
  (:domain movie)
  (:objects
    crisps-packet1 - crisps
    dip-packet1 - dip
    pizza-packet1 - pizza
    cheese-packet1 - cheese
    biscuits-packet1 - biscuits)
  (:init)
  (:goal (and)))
