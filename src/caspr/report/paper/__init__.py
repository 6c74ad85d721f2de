"""For the paper one writes: tables in CSV and LaTeX, figures, and the paragraph for the methods section.

tables                  tables as CSV, one number a row, and as LaTeX with booktabs
agreement, scores       what `caspr agreement` and `caspr score` put into tables and figures
drawing, raster         figures as shapes, written as SVG; the same as PNG and PDF, by matplotlib
methods                 a paragraph with all numbers
"""
