"""Jacobians and Hessians: dense, sparse, and many tangents at once."""
