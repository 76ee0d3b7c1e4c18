"""What must happen to text before it is written, sent or shown: secrets, injection, invisible characters, our markers.

Standard library only and without I/O: the plugin carries this room into the host.
"""
