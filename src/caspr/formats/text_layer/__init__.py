"""Characters and tokens: what formats with standoff annotations share."""
