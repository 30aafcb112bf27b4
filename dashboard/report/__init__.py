"""A week as one page of HTML that prints well: for a team, a queue, a site or everybody.

report = week_report(session, viewer, scope, week)     figures.py: that week, the week before, the same week a year ago
html = page(report, link)                              page.py, charts.py: nothing in it is loaded from elsewhere
write(...), mail(...)                                  delivery.py; worker.py does so every week

What makes pages imports Streamlit, which is large: it is imported when a report is made, not when the stage starts.
"""
