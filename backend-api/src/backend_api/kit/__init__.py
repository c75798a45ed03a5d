"""The foundation of several contexts: stores, errors, routes, listening."""
