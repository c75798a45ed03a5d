"""Accounts, log-ins, tokens and limits of users."""
