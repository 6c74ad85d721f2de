"""What files are packed in, read safely: XML, zip, JSON. No other place parses them."""
