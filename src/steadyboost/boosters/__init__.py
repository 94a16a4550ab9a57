"""The boosting algorithms: a small one is a file, a large one a folder that holds all of it."""
