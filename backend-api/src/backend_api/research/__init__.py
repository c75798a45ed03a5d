"""Scientific papers: finding and reading them, and each user's collection of them."""
