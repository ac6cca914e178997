"""The board in the browser: a local server with a few rooms, each one page.

A room is one Python module with its routes, one page, one script and its words in two languages;
`app` puts them together. What a room knows lies in files and in the book, never in a tab.
"""
