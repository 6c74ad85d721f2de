"""Characters and tokens: what formats that mark text from outside share."""
