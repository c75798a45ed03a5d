"""Fixtures every kind of test may take."""

from service_kit.cancellation import let_cancellation_through
from support.servers import mongo_database_name, mongo_server, redis_server

__all__ = ["mongo_database_name", "mongo_server", "redis_server"]

# As the mains do.
let_cancellation_through()
