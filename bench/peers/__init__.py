"""Other memories, run beside ours. What is here runs in environments of their own, and imports nothing of ours."""
