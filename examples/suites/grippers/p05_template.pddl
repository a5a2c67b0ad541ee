(define (problem grippers-05)
  (:domain grippers)
  (:objects
    room1 room2 room3 room4 room5 - room
    robot1 robot2 robot3 - robot
    left1 right1 left2 right2 left3 right3 - gripper
    ball1 ball2 ball3 ball4 ball5 ball6 - ball)
  (:init)
  (:goal (and)))
