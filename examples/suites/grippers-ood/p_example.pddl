(define (problem grippers-ood-example)
  (:domain grippers-ood)
  (:objects
    room1 room2 - room
    robot1 - robot
    left1 right1 - gripper
    ball1 - ball)
  (:init
    (robot-in robot1 room2)
    (empty robot1 left1)
    (empty robot1 right1)
    (ball-in ball1 room1)
    (aired room2))
  (:goal (and (ball-in ball1 room2))))
