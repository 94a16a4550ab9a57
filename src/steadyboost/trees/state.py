"""Places in a grower's state."""

# How many nodes (0 before it begins), leaves, open nodes and free slots there are.
N_NODES, N_LEAVES, N_OPEN, N_FREE = range(4)

# The first of the nodes that were added last, which of them has fewer rows, and more.
FIRST, SMALL, LARGE = range(4, 7)

# How many rows are few.
FEW = 7

# Whether the rows are all and have not been listed yet.
FRESH = 8

# Where threads share large nodes: how many rows others have at the most, how many slots for lists
# of rows are taken, where the lists of other nodes end, whether the nodes that were added last are
# children of a large one, and whether that is a root whose histogram is not to be changed.
SOLO, N_SLOTS, LISTED, SHARED, OF_ROOT = range(9, 14)

SIZE = 14

STATE = 4  # its own place in the room
