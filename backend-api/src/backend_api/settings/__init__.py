"""Settings of each user, over those of the deployment."""
