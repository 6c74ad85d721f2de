"""For the paper one writes: tables in CSV and LaTeX, figures, and the paragraph for the methods section."""
