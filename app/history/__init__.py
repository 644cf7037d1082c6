"""History on disk: rows, appends, pages; plain synchronous code."""
