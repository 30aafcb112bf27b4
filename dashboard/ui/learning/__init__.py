"""Parts of the pages about learning: cards of datasets, tables of runs, a model's lineage, the gate's report."""
