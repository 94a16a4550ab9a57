"""Tests of one attribute, and conjunctions of them."""
