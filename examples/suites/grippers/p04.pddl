(define (problem grippers-04)
  (:domain grippers)
  (:objects
    room1 room2 room3 room4 - room
    robot1 robot2 - robot
    left1 right1 left2 right2 - gripper
    ball1 ball2 ball3 ball4 ball5 - ball)
  (:init
    (robot-in robot1 room2)
    (robot-in robot2 room4)
    (empty robot1 left1)
    (empty robot1 right1)
    (empty robot2 left2)
    (empty robot2 right2)
    (ball-in ball1 room3)
    (ball-in ball2 room2)
    (ball-in ball3 room3)
    (ball-in ball4 room1)
    (ball-in ball5 room3))
  (:goal (and
           (ball-in ball1 room2)
           (ball-in ball2 room2)
           (ball-in ball3 room4)
           (ball-in ball4 room3)
           (ball-in ball5 room3))))
