"""Documents as text, and text as documents. Untrusted documents are parsed in programs of their own."""
