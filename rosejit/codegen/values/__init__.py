"""Code for single values: aggregates, element access, ownership, calls, branches."""
