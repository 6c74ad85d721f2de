"""For notebooks and other Python programs: pandas, HTML, spaCy, rows of Hugging Face datasets.

frames        results, annotations, agreement and scores as pandas DataFrames, and as HTML in Jupyter
spacy_docs    coreference in spaCy's `Doc.spans`, read and written
rows          dictionaries with tokens and clusters, as datasets and language models give them

pandas is imported only here, and only when it is needed: `pip install 'caspr[notebook]'`.
"""
