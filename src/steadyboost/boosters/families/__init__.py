"""What the boosters of one family share: a base class each, and the weights of pairs."""
