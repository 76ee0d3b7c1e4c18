"""What a person operates it with."""

if not __name__.startswith("nextlevel.") and not __name__.startswith("_hermes_user_memory."):
    raise ImportError(
        f"import this room as nextlevel.{__name__}, not as {__name__}: the bare name is too common to own"
    )
