(lift cart1 box1 cell4 cell2)
(roll cart1 cell4 cell2)
(set-down cart1 box1 cell2 cell4)
