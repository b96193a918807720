"""A writer of WebAssembly modules that knows nothing of the language above it."""
