"""Numbered migrations, oldest first. Each is one file, applied once, in one transaction."""
