"""One chunk a worker: linear and affine costs, ordered subsets, slots, whole units."""
