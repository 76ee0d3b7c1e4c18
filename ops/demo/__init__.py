"""The demo: a month of one person's sessions, played through everything that a real turn goes through."""
