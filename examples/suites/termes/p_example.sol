(fetch cell1-1)
(place cell1-1 cell1-0 level0 level1)
