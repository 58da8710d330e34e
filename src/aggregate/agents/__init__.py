"""Agents: goals, tracks of tickets, sub-agents, tools and sandbox."""
