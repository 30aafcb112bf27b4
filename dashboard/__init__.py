"""What people see: the pages, the live feed behind them, and the HTTP API for other people's programs.

    database --> pages/ with ui/ (Streamlit) ------------+
    database --> api/ (FastAPI) -------------------------+--> auth/middleware --> browser or program
    bus --> routes/feed --> assets/ (in the browser) ----+
    what people do --> routes/actions --> bus and database
    shoppers <--> assistant/ <--> bus

`app` serves all of it as a stage, `main` is the script that Streamlit runs for each look at a page, `playbook` knows
what an agent might do next. Which calls a person may see is decided in storage/viewer.py, nowhere here.
"""

from dashboard.playbook import Playbook, read_playbook

__all__ = ["Playbook", "read_playbook"]
