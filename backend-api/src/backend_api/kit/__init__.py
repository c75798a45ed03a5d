"""What several contexts stand on: stores, errors, routes, listening."""
