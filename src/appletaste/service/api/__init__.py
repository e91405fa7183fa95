"""What programs ask: the types, the function and the address of an operation stand together."""
