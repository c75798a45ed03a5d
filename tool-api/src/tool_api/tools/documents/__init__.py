"""Documents made of what a model wrote."""
