"""Self-contained HTML pages: templates, style sheet, tables and charts that all of them share.

``page.py`` renders templates over one base (``templates/``), and ``svg.py`` draws charts. The
packages that make pages (:mod:`steadyboost.noise.review`, :mod:`steadyboost.lab.reports`) bring
templates of their own and prepare what is on them.
"""
