"""Building the documentation's site: pages are staged, reference is generated from the code, the result is checked.

``python -m docs_build`` builds ``site/``; ``python -m docs_build examples`` writes anew what the examples print.
"""
