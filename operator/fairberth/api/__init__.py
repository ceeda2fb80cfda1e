"""THE CONTRACT: the custom resources, and the only parser of Kubernetes objects."""
