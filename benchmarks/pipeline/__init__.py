"""What the whole costs: latency, memory, throughput, of the bus, the store, batches and pages."""
