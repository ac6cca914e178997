"""Junqi: the game of 军棋 (Luzhanqi) for two, its rules, its simulator and its engine."""

__version__ = "0.1.0"
