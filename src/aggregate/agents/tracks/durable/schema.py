"""The tables of our own, beside those of DBOS in the same database."""

import sqlalchemy as sa

METADATA = sa.MetaData()
RUNS = sa.Table(
    "conductor_runs",
    METADATA,
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("project", sa.Text, nullable=False),
    sa.Column("track", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("tickets", sa.Text, nullable=False),
    # Of two processes that begin a run at once, one finds that it is there: see ``RunTable.begin``.
    sa.UniqueConstraint("project", "track", "number"),
)
"""The runs: DBOS knows tickets (its workflows) only, not that they belong together."""
LEASES = sa.Table(
    "conductor_leases",
    METADATA,
    sa.Column("executor_id", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("until", sa.Double, nullable=False),  # seconds since 1970 by the database's clock
)
"""Who is alive, workers and those who conduct a run (``run_lease``): DBOS notices by its hosted service
alone that a process has died."""
SEGMENTS = sa.Table(
    "conductor_segments",
    METADATA,
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("digest", sa.Text, primary_key=True),
    sa.Column("segment", sa.Text, nullable=False),
)
"""What the tickets of a run are shown: DBOS would keep a copy for each ticket."""
ENDINGS = sa.Table(
    "conductor_endings",
    METADATA,
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
)
"""What became of tickets that no worker is asked for: approvals, conditions, lists. The first ending counts."""
ROUNDS = sa.Table(
    "conductor_rounds",
    METADATA,
    sa.Column("run_id", sa.Text, primary_key=True),
    sa.Column("ticket", sa.Text, primary_key=True),
    sa.Column("round", sa.Integer, nullable=False),
)
"""Which time a ticket is run, for those that were retried: what it came to before stays under its earlier key."""
