"""Text without I/O: words, language, names in a normal form, clauses. Standard library only: the plugin carries it.

The word lists beside the code (`data/`) are read once, at first use.
"""
