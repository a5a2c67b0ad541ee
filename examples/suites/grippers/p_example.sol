(go robot1 room2 room1)
(grasp robot1 left1 ball1 room1)
(go robot1 room1 room2)
(release robot1 left1 ball1 room2)
