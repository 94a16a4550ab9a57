"""From what a user passes as ``X`` to the bins that trees are grown from."""
