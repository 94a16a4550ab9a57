"""Weak learners: what answers the question of a round."""
