"""A staging session: calls, recursion, custom rules, and the object that rewritten code talks to."""
