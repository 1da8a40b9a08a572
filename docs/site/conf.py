"""Sphinx's settings for the site that docs/site/build.py assembles: `make docs`."""

import os

project = "norch"
author = copyright = "the norch authors"
release = os.environ["NORCH_RELEASE"]
extensions = ["myst_parser"]
root_doc = "index"
html_theme = "furo"
html_title = f"norch {release}"
html_extra_path = ["_extra"]  # pages that move, norch's source
html_static_path, html_css_files = ["_static"], ["site.css"]
html_show_sourcelink = html_copy_source = False
html_theme_options = {"navigation_with_keys": True}
exclude_patterns = ["_extra"]
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
add_module_names = False
toc_object_entries = False
pygments_style, pygments_dark_style = "friendly", "monokai"
suppress_warnings = ["misc.highlighting_failure"]  # a text that looks like a program is shown as it is
