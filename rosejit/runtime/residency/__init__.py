"""What stays in memory and for how long: native code, instances, tiers, the stack."""
