"""What commands share: options, inputs, solving, outputs, reports and tables, progress and signals."""
