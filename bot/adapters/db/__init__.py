"""The database behind `bot.ports.store`: SQLite for one process, PostgreSQL for replicas.

app/parts, app/run and the command line use `engine.create`, `lock.hold`, `migrate` and `unit_of_work.SqlStore`; chat's
listeners get an `inbox_writer.InboxWriter`. The reasons for what is done here are in docs/database.md.
"""
