"""MMAX2: words in one file, markables in one file for each level, and a project file that names them.

    talk.mmax   common_paths.xml   Basedata/talk_words.xml   Markables/talk_coref_level.xml   Schemes/...
    <markable id="markable_7" span="word_3..word_5,word_8" coref_class="set_4" mmax_level="coref"/>

1. `common_paths.xml` gives the folders and the levels; `$` is the project's name.
2. The attribute that holds chains is the one of type `markable_set` in the level's scheme, in small
   letters; without a scheme it is one whose values look like `set_4`. `empty` is no chain: such a
   markable is no mention.
3. Every level with such an attribute is an annotator; `--layer` chooses one. The result goes into the
   level it came from; of several, into a new level called `gold`.
4. Markables with gaps list several runs of words. Words cannot be cut, since all levels refer to them.
5. Written back, a markable that is in no chain stays, with `empty`; new ones are added. All files of the
   project are written.
"""

from pathlib import Path

from caspr.formats.format import Format
from caspr.formats.mmax.project import project_files
from caspr.formats.mmax.reading import read
from caspr.formats.mmax.writing import losses, write


def detect(path: Path, head: str) -> bool:  # noqa: ARG001
    """Return whether the beginning of a file looks like this format."""
    return "<mmax_project" in head


FORMAT = Format(
    name="mmax",
    suffixes=(".mmax",),
    detect=detect,
    read=read,
    write=write,
    losses=losses,
    many_annotators=True,
    companions=project_files,
    project_suffixes=(".xml", ".dtd", ".xsl"),
)
