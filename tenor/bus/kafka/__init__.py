"""The bus on Apache Kafka, through aiokafka.

bus         what `open_bus` gives for a kafka:// address
consumer    followers and members of groups
bulk        publishing many events at once
topics      made when missing, all with the same number of partitions
connection  addresses, TLS and SASL, patience, and what Kafka's errors mean
outage      whether Kafka is away, since when, and what is told of it
"""
