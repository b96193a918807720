"""IR functions to a WebAssembly module: layout, memory, locals, and the instructions of every form."""
