"""Tools that work on several columns at a time: clusters, components, anomalies."""
