(define (problem two) (:domain lamps)
  (:objects desk shelf - lamp)
  (:init (wired hall desk) (not (lit hall)))
  (:goal (and (lit hall) (or (lit desk) (imply (lit shelf) (lit hall))))))
