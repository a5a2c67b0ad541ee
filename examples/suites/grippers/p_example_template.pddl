(define (problem grippers-example)
  (:domain grippers)
  (:objects
    room1 room2 - room
    robot1 - robot
    left1 right1 - gripper
    ball1 - ball)
  (:init)
  (:goal (and)))
