"""Which definitions of which files a task is about: independent evidences, and their fusion into one order.

Pure: whoever calls reads files, commits and the index, and passes what they hold.
"""
