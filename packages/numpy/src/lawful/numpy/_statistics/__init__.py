"""Statistics: averages, order statistics and histograms."""
