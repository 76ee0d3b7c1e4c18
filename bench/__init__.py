"""Figures: one script for each question, with machine and seed, beside a floor of the same run. See README.md."""
