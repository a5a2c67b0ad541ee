(define (problem grippers-05)
  (:domain grippers)
  (:objects
    room1 room2 room3 room4 room5 - room
    robot1 robot2 robot3 - robot
    left1 right1 left2 right2 left3 right3 - gripper
    ball1 ball2 ball3 ball4 ball5 ball6 - ball)
  (:init
    (robot-in robot1 room4)
    (robot-in robot2 room3)
    (robot-in robot3 room2)
    (empty robot1 left1)
    (empty robot1 right1)
    (empty robot2 left2)
    (empty robot2 right2)
    (empty robot3 left3)
    (empty robot3 right3)
    (ball-in ball1 room1)
    (ball-in ball2 room2)
    (ball-in ball3 room3)
    (ball-in ball4 room4)
    (ball-in ball5 room4)
    (ball-in ball6 room5))
  (:goal (and
           (ball-in ball1 room2)
           (ball-in ball2 room4)
           (ball-in ball3 room2)
           (ball-in ball4 room3)
           (ball-in ball5 room3)
           (ball-in ball6 room5))))
