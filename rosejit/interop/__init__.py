"""Between rosejit and other libraries, each imported where it is first needed."""
