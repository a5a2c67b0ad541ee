(fill tap1)
(walk tap1 mint)
(water mint)
(pick mint)
