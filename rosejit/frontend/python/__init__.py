"""What Python itself offers to staged values: builtins, `math`, `print`, `assert` and `raise`."""
