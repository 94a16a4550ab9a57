"""Model files: reading and writing fitted boosters, with checks of everything that is read."""
