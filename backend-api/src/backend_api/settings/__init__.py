"""What each user has set over what the deployment has."""
