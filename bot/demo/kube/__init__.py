"""A strict stand-in for the Kubernetes API with Kueue: the test double of the adapter and the world of the demo."""
