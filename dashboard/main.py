"""The script that Streamlit runs for every look at a page: who looks, what there is for them, and that page."""

from __future__ import annotations

import streamlit as st

from dashboard.context import current_context, errors_explained
from dashboard.pages import pages_of
from dashboard.ui import navigation, theme

context = current_context()
st.set_page_config(page_title=context.settings.dashboard.title, page_icon=theme.ICON, layout="wide")
theme.apply_styles(context.settings.dashboard.title)
with errors_explained():
    viewer = context.sign_in.viewer()
    navigation.navigate(pages_of(viewer), viewer, context)
