"""Documents made from a model's text."""
