"""What a provider keeps of a prompt: its rules, where requests break, and the order that lets most be reused. Pure."""
