(define (problem grippers-ood-01)
  (:domain grippers-ood)
  (:objects
    room1 room2 room3 - room
    robot1 - robot
    left1 right1 - gripper
    ball1 ball2 - ball)
  (:init)
  (:goal (and)))
