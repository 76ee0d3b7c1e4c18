"""`nextlevel learn --dry-run FILE`: what would be kept of a transcript, what not, and why. Nothing is stored.

A file becomes transcripts (`transcripts.py` finds out what it is, `exports.py` and `plain.py` read it), each turn is
read by the very steps that the workers use (`dryrun.py`), and the findings are printed (`command.py`).
"""
