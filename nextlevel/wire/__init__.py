"""How the plugin talks: RESP and HTTP on the standard library, since the host's environment has no client of ours.

Every call has a total deadline, name look-up included, and connections are shared by the process, not by the caller.
"""
