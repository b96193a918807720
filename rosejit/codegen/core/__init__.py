"""What all generated code stands on: layout, allocator, modules, locals, entry points."""
