# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import csv
import html.parser
import json
import pathlib
import re
import sys
import typing as t

import pytest

for needed in ("numpy", "sqlalchemy", "altair", "vl_convert", "jinja2"):
    pytest.importorskip(needed)
from ansible_collections.plumbline.storage.plugins.plugin_utils._results import outputs
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.errors import StoreError
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.store import ResultsStore

EVIL = '<script>alert("x")</script>'
VOID = {"meta", "br", "link", "img", "hr", "input"}


class _Page(html.parser.HTMLParser):
    """Collects tags and text, and notes what is not closed."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.fetched: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [v or "" for k, v in attrs if k in ("src", "href", "xlink:href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, (tag, self.open[-3:])
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.text += data


def _page(path: str) -> _Page:
    page = _Page()
    page.feed(pathlib.Path(path).read_text(encoding="utf-8"))
    assert page.open == []
    return page


def _written(
    simulated: t.Any, directory: pathlib.Path, lost: t.Any = (), change: t.Any = None, **options: t.Any
) -> outputs.Outputs:
    run, observations = simulated.simulate_run(**options)
    if change:
        change(run, observations)
    store = ResultsStore(directory / "plumbline.db")
    store.add_run(run)
    store.add_observations(observations)
    return outputs.write_outputs(
        store, run["run_id"], directory, lost, "ansible-playbook compare_stacks.yml -i hosts -e resume=20261130-a1f3"
    )


def test_report_stands_alone_and_has_its_three_parts(simulated: t.Any, tmp_path: pathlib.Path) -> None:
    def change(run: dict[str, t.Any], observations: list[dict[str, t.Any]]) -> None:
        run["hosts"].append("lab9")
        run["stacks"] = [*run["stacks"][:2], {**run["stacks"][2], "title": EVIL}]
        observations[5].update(valid=False, invalid_reason=f"other I/O {EVIL}")

    written = _written(simulated, tmp_path, ["lab9"], change)
    page = _page(written.report_path)
    text = pathlib.Path(written.report_path).read_text(encoding="utf-8")
    assert "script" not in page.tags
    assert [url for url in page.fetched if not url.startswith("#")] == []
    assert not re.search(r"@import|url\((?!#)", text)
    assert page.text.count(EVIL) >= 3
    assert page.tags.count("svg") >= 6
    assert "010a0" not in text, "a placeholder colour was left in a chart"
    assert "010b0" not in text, "a placeholder colour was left in a chart"
    for said in (
        "Compared with XFS on md RAID5",
        "Virtual disks: no seek",
        "nothing was measured on it",
        "su 256 KiB, sw 3",
        "chunk 256 KiB",
        "10 GiB from 1 MiB",
        "lvchange --readahead 3072 vg/lv",
        "20080229",
        "block 1",
        "sync action",
        "6.1.0-28-amd64",
        "-e resume=20261130-a1f3",
        "other I/O",
    ):
        assert said in page.text, said
    assert len(text) < 500_000


def test_every_observation_is_a_mark_in_the_chart(simulated: t.Any, tmp_path: pathlib.Path) -> None:
    text = pathlib.Path(_written(simulated, tmp_path, blocks=8).report_path).read_text(encoding="utf-8")
    figure = re.search(r"<b>Direct reads</b></figcaption>(.*?)</figure>", text, re.DOTALL)
    assert figure is not None
    marks = re.findall(r"<path [^>]*style=\"fill:var\(--s\d\);stroke:var\(--paper\)\"", figure.group(1))
    assert len(marks) == 24


def test_several_hosts_have_a_section_each(simulated: t.Any, tmp_path: pathlib.Path) -> None:
    page = _page(_written(simulated, tmp_path, hosts=("lab1", "lab2"), blocks=6).report_path)
    assert page.text.count("one dot per host") == 2
    assert {"lab1", "lab2"} <= set(page.text.split())


def test_summary_has_the_numbers(simulated: t.Any, tmp_path: pathlib.Path) -> None:
    written = _written(simulated, tmp_path, cv=0.005)
    data = json.loads(pathlib.Path(written.summary_path).read_text(encoding="utf-8"))
    assert data["schema_version"] == 1
    assert data["answer"].startswith("Compared with")
    (host,) = data["hosts"]
    assert (host["observations"], host["invalid"], host["virtual_disks"]) == (48, 0, True)
    cells = {c["name"]: c for w in host["workloads"] if w["name"] == "buffered_read" for c in w["stacks"]}
    assert cells["md"]["comparison"] is None
    assert cells["lvm_on_md"]["comparison"]["kind"] == "slower"
    assert cells["lvm_on_md"]["comparison"]["ratio"] == pytest.approx(0.62, abs=0.01)
    assert len(cells["md"]["values"]) == 8
    assert cells["md"]["disks"][0]["disk"] == "WD-WCASJ0000001"


def test_csv_has_one_line_per_observation(simulated: t.Any, tmp_path: pathlib.Path) -> None:
    written = _written(simulated, tmp_path, blocks=2)
    with open(written.csv_path, encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 12
    assert float(rows[0]["throughput_bytes_per_second"]) > 1e6


def test_lost_hosts_by_name_say_how_far_they_came(simulated: t.Any, tmp_path: pathlib.Path) -> None:
    def change(run: dict[str, t.Any], observations: list[dict[str, t.Any]]) -> None:
        run["design"]["blocks"] = 8

    written = _written(simulated, tmp_path, ["lab1"], change, blocks=3)
    assert "it did not finish, 18 of 48 runs were done" in written.text
    assert "Lost: it did not finish, 18 of 48 runs were done" in _page(written.report_path).text


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")

    def full(*_arguments: t.Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(outputs.os, "fsync", full)
    with pytest.raises(StoreError, match=r"report\.html cannot be written \(No space left on device\)"):
        outputs.write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_a_missing_library_is_a_sentence(
    simulated: t.Any, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(
        StoreError, match=r"Charts cannot be drawn: the Python library altair is missing.*requirements\.txt"
    ):
        _written(simulated, tmp_path, blocks=1)


def test_the_play_does_not_pay_for_charts_before_the_end() -> None:
    """Only the functions that draw import what is slow to import."""
    package = pathlib.Path(outputs.__file__).parent
    for path in package.glob("*.py"):
        heads = re.findall(r"^(?:import|from) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
        assert not {"altair", "scipy", "numpy", "sqlalchemy", "jinja2", "vl_convert"} & set(heads), path.name
