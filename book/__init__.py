"""The book: layouts, mixtures of them and early replies, kept with their evidence in SQLite."""
