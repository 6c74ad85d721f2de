"""Reports: Result -> text or JSON values. Pure functions; nothing here prints."""
