"""Statistics: order statistics and histograms."""
