(define (problem grippers-01)
  (:domain grippers)
  (:objects
    room1 room2 room3 - room
    robot1 - robot
    left1 right1 - gripper
    ball1 ball2 - ball)
  (:init
    (robot-in robot1 room3)
    (empty robot1 left1)
    (empty robot1 right1)
    (ball-in ball1 room3)
    (ball-in ball2 room1))
  (:goal (and (ball-in ball1 room2))))
