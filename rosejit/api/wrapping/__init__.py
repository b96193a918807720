"""Whatever can be called, as a function that can be staged: methods, partials, closures, fresh lambdas, opaque ones."""
