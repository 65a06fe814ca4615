"""Runs a job of several ranks on pretend hosts: guests with soft-RoCE rails, or plain processes."""
