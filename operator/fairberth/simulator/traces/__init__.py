"""Real traces as scenarios."""
