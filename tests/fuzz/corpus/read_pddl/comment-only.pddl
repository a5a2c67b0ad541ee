; nothing here
;; )))