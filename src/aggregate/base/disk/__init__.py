"""Safe access to an untrusted disk.

Reads are bounded, writes follow no links, and programs have full paths.
"""
