"""Task graphs in the formats of others: WfFormat, STG, DOT, networkx, Dask."""
