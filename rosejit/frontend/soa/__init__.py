"""Lists of records as structs of arrays, and the proxies of their elements."""
