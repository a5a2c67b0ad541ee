; Written for planforge: fuses in a dark cellar are mended by the light of matches. Minutes, money, a shop that closes.
(define (domain cellar)
  (:requirements :typing :negative-preconditions :universal-preconditions :durative-actions :duration-inequalities :fluents
    :timed-initial-literals :preferences :constraints)
  (:types match fuse - object)
  (:predicates
    (unused ?m - match)
    (light)
    (in-cellar)
    (shop-open)
    (spare ?f - fuse)
    (mended ?f - fuse)
    (hand-free))
  (:functions (money) (price ?f - fuse))
  (:durative-action walk-down
    :parameters ()
    :duration (= ?duration 2)
    :condition (at start (not (in-cellar)))
    :effect (at end (in-cellar)))
  (:durative-action burn
    :parameters (?m - match)
    :duration (= ?duration 8)
    :condition (and (at start (unused ?m)) (at start (in-cellar)))
    :effect (and (at start (not (unused ?m))) (at start (light)) (at end (not (light)))))
  (:durative-action mend
    :parameters (?f - fuse)
    :duration (and (>= ?duration 3) (<= ?duration 5))
    :condition (and
      (at start (hand-free))
      (at start (spare ?f))
      (over all (light)))
    :effect (and
      (at start (not (hand-free)))
      (at start (not (spare ?f)))
      (at end (hand-free))
      (at end (mended ?f))))
  (:action buy
    :parameters (?f - fuse)
    :precondition (and (shop-open) (not (in-cellar)) (>= (money) (price ?f)))
    :effect (and (spare ?f) (decrease (money) (price ?f)))))
