"""Documents as text, and text as documents. What others made is taken apart in programs of their own."""
