"""What was said before nextlevel was there, or what no hook told of: published as ordinary turns, at their own time."""
