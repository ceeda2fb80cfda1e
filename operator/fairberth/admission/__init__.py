"""The pod webhook: what is patched at creation, and what is refused."""
