"""Execute the notebook of the documentation and keep what it shows: `python -m bench.notebook`.

To be run when the notebook is edited, or when what it shows changes for a reason. Times of execution and
versions are left out, so that only changes of content are changes of the file.
"""

from pathlib import Path

PATH = Path(__file__).parents[1] / "docs" / "notebook.ipynb"


def execute(path: Path = PATH) -> None:
    """Execute a notebook in its folder and write it again."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": path.parent}}).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    execute()
