"""Sphinx configuration: MyST pages in the furo theme; every warning is an error (see the Makefile)."""

from pytest_agentcontract import __version__

project = "pytest-agent-conformance"
version = release = __version__
extensions = ["myst_parser"]
exclude_patterns = ["_build", "generated"]
html_theme = "furo"
html_title = "Agent conformance"
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
