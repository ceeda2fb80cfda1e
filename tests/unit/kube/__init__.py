"""The API server edge, against a scripted server in the same process."""
