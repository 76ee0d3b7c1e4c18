"""Finding a language model on this machine, trying it, and writing it into nextlevel.toml."""
