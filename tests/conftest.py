"""Fixtures every kind of test may take."""

from hypothesis import settings

from service_kit.cancellation import let_cancellation_through
from support.servers import emptied_databases, mongo_database_name, mongo_server, redis_server

__all__ = ["emptied_databases", "mongo_database_name", "mongo_server", "redis_server"]

# As the mains do.
let_cancellation_through()

# How long an example takes tells of the machine, not of the code.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
