(enter passenger1 floor3)
(go-down floor3 floor2)
(leave passenger1 floor2)
