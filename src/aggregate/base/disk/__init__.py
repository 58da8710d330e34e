"""Safe access to an untrusted disk: bounded reads, writes without links, programs by full path."""
