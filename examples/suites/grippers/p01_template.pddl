(define (problem grippers-01)
  (:domain grippers)
  (:objects
    room1 room2 room3 - room
    robot1 - robot
    left1 right1 - gripper
    ball1 ball2 - ball)
  (:init)
  (:goal (and)))
