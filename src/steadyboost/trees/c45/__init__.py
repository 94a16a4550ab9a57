"""C4.5, release 8: growing, pruning and the finished tree."""
