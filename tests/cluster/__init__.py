"""Tests against a real control plane: see README.md."""
