"""The steps of the pipeline, one module each, without I/O: what a turn says, and what of it is worth keeping."""
