"""The start page: what it lets in, what buttons do, and the whole way from files to results in a browser."""
