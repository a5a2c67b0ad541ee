(drive ash birch)
(load parcel1 birch)
(drive birch ash)
(unload parcel1 ash)
