(define (problem library-task)
  (:domain library)
  (:objects
    a1 a2 a3 b1 b2 b3 - shelf
    trolley1 trolley2 - trolley
    atlas dictionary - book)
  (:init
    (next-to a1 a2) (next-to a2 a1) (next-to a2 a3) (next-to a3 a2)
    (next-to b1 b2) (next-to b2 b1) (next-to b2 b3) (next-to b3 b2)
    (next-to a1 b1) (next-to b1 a1) (next-to a2 b2) (next-to b2 a2) (next-to a3 b3) (next-to b3 a3)
    (trolley-at trolley1 a1) (trolley-at trolley2 a1)
    (empty trolley1) (empty trolley2)
    (book-on atlas a2) (book-on dictionary b2)
    (has-space a1) (has-space a3) (has-space b1) (has-space b3))
  (:goal (and (book-on atlas b2) (book-on dictionary a2))))
