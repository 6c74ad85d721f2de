"""Public instances are read, solved and compared with what is known about them."""

from pathlib import Path
from time import process_time

from bench.instances_public import ProcessorWatch, read_public, rows, solve

TRIANGLE = "4\n3 -1 -5\n2 -4\n1\n"
"""Gains of four nodes: best is 0, 1, 2 together, which gain 4, or the pairs 0-1 and 2-3, which do, too."""
PATH = "p cep 4 3\n1 2\n2 3\n3 4\n"
"""A path of four nodes: deleting its middle edge leaves two cliques."""


def write(folder: Path) -> tuple[Path, Path]:
    triangle, path = folder / "Toy" / "toy.txt", folder / "paths" / "path.gr"
    for file, text in ((triangle, TRIANGLE), (path, PATH)):
        file.parent.mkdir()
        file.write_text(text, encoding="utf-8")
    return triangle, path


def test_instances_of_both_formats_are_proven(tmp_path: Path) -> None:
    triangle, path = map(read_public, write(tmp_path))
    first, second = solve(triangle, 60), solve(path, 60)
    assert first.proven and first.value == 4
    assert second.proven and path.offset - second.value == 1


def test_a_known_optimum_that_contradicts_ours_is_said_to_be_wrong(tmp_path: Path) -> None:
    triangle, _ = write(tmp_path)
    known = triangle.parent / "Optimal" / "toy_opt.txt"
    known.parent.mkdir()
    for value, wrong in ((4, False), (5, True), (3, True)):
        known.write_text(f"Optimal value: {value}\n", encoding="utf-8")
        assert solve(read_public(triangle), 60).wrong is wrong


def test_the_limit_is_one_of_the_processor(tmp_path: Path) -> None:
    assert not ProcessorWatch(process_time() + 60).expired()
    assert ProcessorWatch(process_time()).expired()
    path = read_public(write(tmp_path)[1])
    assert solve(path, -1).bound >= solve(path, 60).value


def test_each_folder_is_a_row(tmp_path: Path) -> None:
    write(tmp_path)
    table = list(rows(tmp_path, quick=True))
    assert [measured for _, _, measured in table] == [
        "1 of 1 proven, 0 of 0 known optima agree; open: none" for _ in range(2)
    ]
