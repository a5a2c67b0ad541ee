(define (problem hiking-05)
  (:domain hiking)
  (:objects
    camp1 camp2 camp3 camp4 camp5 - camp
    hiker1 hiker2 hiker3 hiker4 - hiker
    team1 team2 - team
    car1 car2 - car
    tent1 tent2 - tent)
  (:init)
  (:goal (and)))
