"""Rules as users write them, on pytrees, as rules on flat lists of operands; their results are checked."""
