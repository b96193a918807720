"""What users call: the one place where transforms and code generation meet."""
