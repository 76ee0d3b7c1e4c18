"""The memory provider that Hermes Agent loads as a plugin: a light guest in the host's process.

Standard library only, no I/O at import; `install.py` copies this room and what it reaches into the plugin's folder.
"""

VERSION = "0.1.0"
