"""HTTP: routes, the guard before them, events, and the process that serves."""
