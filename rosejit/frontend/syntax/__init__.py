"""From a function's source text to the text that is run: finding it, checking it, liveness, desugaring, rewriting."""
