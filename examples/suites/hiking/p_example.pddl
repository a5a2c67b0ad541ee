(define (problem hiking-example)
  (:domain hiking)
  (:objects
    camp1 camp2 - camp
    hiker1 hiker2 - hiker
    team1 - team
    car1 car2 - car
    tent1 - tent)
  (:init
    (trail camp1 camp2)
    (team-of team1 hiker1 hiker2)
    (reached team1 camp1)
    (hiker-at hiker1 camp1)
    (hiker-at hiker2 camp1)
    (car-at car1 camp1)
    (car-at car2 camp1)
    (tent-at tent1 camp2)
    (packed tent1))
  (:goal (and (reached team1 camp2))))
