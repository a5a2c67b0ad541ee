; Two fuses, and a shop that closes at minute 10. The wishes: some money is left, and the first fuse works by minute 7.
(define (problem cellar-01)
  (:domain cellar)
  (:objects m1 m2 - match f1 f2 - fuse)
  (:init
    (unused m1) (unused m2) (shop-open) (hand-free)
    (at 10 (not (shop-open)))
    (= (money) 4.2) (= (price f1) 1.2) (= (price f2) 2.5))
  (:goal (and
    (mended f1)
    (mended f2)
    (preference rest (>= (money) 1))))
  (:constraints (and
    (sometime-after (light) (mended f1))
    (preference soon (within 7 (mended f1)))
    (forall (?m - match) (preference thrift (always (unused ?m))))))
  (:metric minimize (+ (total-time) (* 10 (is-violated rest)) (is-violated soon) (is-violated thrift))))
