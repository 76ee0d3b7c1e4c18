"""What long-term memory would put into the host's own memory and skills; a person accepts it, or nothing is written."""
