"""Fixtures every kind of test may take."""

from support.servers import mongo_database_name, mongo_server, redis_server

__all__ = ["mongo_database_name", "mongo_server", "redis_server"]
