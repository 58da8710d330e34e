"""What a provider keeps of a prompt: its policy, breakpoints, and the order of files that lets most be reused. Pure."""
