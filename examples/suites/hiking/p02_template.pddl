(define (problem hiking-02)
  (:domain hiking)
  (:objects
    camp1 camp2 camp3 - camp
    hiker1 hiker2 - hiker
    team1 - team
    car1 car2 - car
    tent1 - tent)
  (:init)
  (:goal (and)))
