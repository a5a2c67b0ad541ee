(assign nurse2 ward1 shift1)
(assign nurse1 ward1 shift2)
