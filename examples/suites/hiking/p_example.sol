(drive hiker2 car1 camp1 camp2)
(pitch hiker2 tent1 camp2)
(drive hiker2 car1 camp2 camp1)
(hike team1 hiker1 hiker2 camp1 camp2 tent1)
