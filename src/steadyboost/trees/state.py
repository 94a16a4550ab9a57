"""Places in a grower's state."""

# How many nodes (0 before it begins), leaves, open nodes and free slots there are.
N_NODES, N_LEAVES, N_OPEN, N_FREE = range(4)

# The first of the nodes that were added last, which of them has fewer rows, and more.
FIRST, SMALL, LARGE = range(4, 7)

# How many rows are few.
FEW = 7

# Which of the threads this is that grow a tree together, and of how many; how often they have
# agreed, and whether it has made an offer since.
SHARE, N_SHARES, TURN, OFFERED = range(8, 12)

# Whether the rows are all and have not been listed yet.
FRESH = 12

SIZE = 13

STATE = 4  # its own place in the room
