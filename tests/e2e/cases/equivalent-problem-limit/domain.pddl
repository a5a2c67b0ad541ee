(define (domain ring) (:predicates (near ?a ?b)))
