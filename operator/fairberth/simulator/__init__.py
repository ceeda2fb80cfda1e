"""The production engine under a virtual clock."""
