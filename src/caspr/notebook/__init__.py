"""For notebooks and other Python programs: pandas, HTML, spaCy, rows of Hugging Face datasets.

frames        results, annotations, agreement and scores as pandas DataFrames
html          the same as a small HTML fragment, which Jupyter shows
spacy_docs    coreference in spaCy's `Doc.spans`, read and written
rows          dictionaries with tokens and clusters, as datasets and language models give them
comparing     agreement between the annotators of some files

pandas and spaCy are imported only here, and only when they are needed; `pip install pandas` is enough for
frames.
"""
