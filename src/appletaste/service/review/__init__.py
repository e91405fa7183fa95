"""The review page: what the page asks for, kept up to date beside the writers, and the page itself."""
