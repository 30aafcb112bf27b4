"""What pages, the API and commands read: calls, those of now, alerts, statistics of the past, how the pipeline does.

Every function takes the viewer, so that what a person may not see is never read.
"""
