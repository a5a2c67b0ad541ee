(define (problem outing-02)
  (:domain outing)
  (:objects
    station museum tower harbour church - place
    ticket1 - ticket)
  (:init)
  (:goal (and)))
