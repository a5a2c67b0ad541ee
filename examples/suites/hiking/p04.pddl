(define (problem hiking-04)
  (:domain hiking)
  (:objects
    camp1 camp2 camp3 camp4 - camp
    hiker1 hiker2 hiker3 hiker4 - hiker
    team1 team2 - team
    car1 car2 - car
    tent1 tent2 - tent)
  (:init
    (trail camp1 camp2)
    (trail camp2 camp3)
    (trail camp3 camp4)
    (team-of team1 hiker1 hiker2)
    (reached team1 camp1)
    (team-of team2 hiker3 hiker4)
    (reached team2 camp1)
    (hiker-at hiker1 camp1)
    (hiker-at hiker2 camp1)
    (hiker-at hiker3 camp1)
    (hiker-at hiker4 camp1)
    (car-at car1 camp1)
    (car-at car2 camp1)
    (tent-at tent1 camp2)
    (packed tent1)
    (tent-at tent2 camp1)
    (pitched tent2))
  (:goal (and (reached team1 camp4) (reached team2 camp4))))
