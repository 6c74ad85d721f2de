"""The terminal: options that commands share, progress, and being stopped by a signal."""
