"""Lists whose length only running tells: what iterations of staged loops append to, and take from."""
