"""Arguments: binding to parameters, and the abstract description that a specialisation is keyed by."""
