"""What commands share between parsing and printing: inputs, solving, outputs, messages."""
