"""What all boosters share: the estimator, the loop, scores, callbacks, checkpoints, prediction."""
