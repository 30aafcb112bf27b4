"""The script that Streamlit runs for every look at a page: who looks, what there is for them, and that page."""

from __future__ import annotations

import streamlit as st

from dashboard import frame, look, navigation
from dashboard.pages import pages_of

here = frame.current()
st.set_page_config(page_title=here.settings.dashboard.title, page_icon=look.ICON, layout="wide")
look.dress(here.settings.dashboard.title)
with frame.explaining():
    viewer = here.sign_in.viewer()
    navigation.navigate(pages_of(viewer), viewer, here)
