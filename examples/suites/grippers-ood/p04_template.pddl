(define (problem grippers-ood-04)
  (:domain grippers-ood)
  (:objects
    room1 room2 room3 room4 - room
    robot1 robot2 - robot
    left1 right1 left2 right2 - gripper
    ball1 ball2 ball3 ball4 ball5 - ball)
  (:init)
  (:goal (and)))
