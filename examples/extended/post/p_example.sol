5.001: (collect letter1 grafton) [2.000]
7.002: (ride grafton denton) [30.000]
37.003: (deliver letter1 denton) [3.000]
