"""The disk as a stranger may have left it: bounded reads, writes that follow no link, programs by their full path."""
