(define (problem grippers-02)
  (:domain grippers)
  (:objects
    room1 room2 room3 - room
    robot1 robot2 - robot
    left1 right1 left2 right2 - gripper
    ball1 ball2 ball3 - ball)
  (:init)
  (:goal (and)))
