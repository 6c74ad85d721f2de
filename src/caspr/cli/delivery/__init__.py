"""What commands share between parsing and printing: inputs, solving, and files delivered all or none."""
