"""An artifact to Python functions: loads the module into an engine and calls its entries. Knows no compiler."""
