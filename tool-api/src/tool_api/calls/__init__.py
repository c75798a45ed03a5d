"""Running tool calls: deadlines, live output, cancellation, and the routes over them."""
