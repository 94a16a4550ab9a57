"""Class codes, and colourings of the classes."""
