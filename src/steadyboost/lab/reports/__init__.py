"""Pages that people read: one self-contained HTML file each, with tables and pictures inside.

``page.py`` makes the page, ``tables.py`` its tables, ``charts.py`` and ``strips.py`` its pictures.
What a page says is in the file of its name, or beside what it reports on.
"""
