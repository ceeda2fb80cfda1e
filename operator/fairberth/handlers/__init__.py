"""KOPF: each handler decodes, applies a fact, and at most writes status."""
