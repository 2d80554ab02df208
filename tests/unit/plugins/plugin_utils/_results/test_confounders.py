# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
from __future__ import annotations

import copy
import typing as t

import pytest
from ansible_collections.plumbline.storage.plugins.plugin_utils._results.confounders import (
    Difference,
    differences_of,
    stack_declaration,
)

MD = {"name": "md", "layers": [{"md": {"level": 5, "chunk": "256KiB"}}, {"xfs": {}}]}
LVM = {
    "name": "lvm",
    "layers": [{"md": {"level": 5, "chunk": "256KiB"}}, {"pv": {}}, {"vg": {}}, {"lv": {}}, {"xfs": {}}],
}
STRIPE = {
    "name": "stripe",
    "layers": [{"pv": {}}, {"vg": {}}, {"lv": {"type": "striped", "stripesize": "64KiB"}}, {"xfs": {}}],
}


def _found(
    one: dict[str, t.Any], base: dict[str, t.Any], stack: t.Any = LVM, base_stack: t.Any = MD
) -> list[Difference]:
    return differences_of(one, base, stack_declaration(stack), stack_declaration(base_stack))


def _layer(fingerprint: dict[str, t.Any], kind: str) -> dict[str, t.Any]:
    return next(layer for layer in fingerprint["layers"] if layer["kind"] == kind)


def test_the_same_settings_are_no_difference(simulated: t.Any) -> None:
    """The file system on the LV is a little smaller than the one on md; that alone is no finding."""
    assert _found(simulated.fingerprint_of("lvm_on_md"), simulated.fingerprint_of("md")) == []


def test_readahead_is_named_in_words_with_its_cure(simulated: t.Any) -> None:
    (found,) = _found(simulated.fingerprint_of("lvm_on_md", 128), simulated.fingerprint_of("md"))
    assert found.text() == "readahead, 128 KiB on the LV, 1.5 MiB on md"
    assert found.cure == "lvchange --readahead 3072 vg/lv"


def test_the_cure_lifts_the_smaller_side(simulated: t.Any) -> None:
    (found,) = _found(simulated.fingerprint_of("lvm_on_md"), simulated.fingerprint_of("md", 128))
    assert found.cure == "blockdev --setra 3072 /dev/md/name"


def test_what_was_varied_on_purpose_is_no_finding(simulated: t.Any) -> None:
    declared = {**LVM, "settings": {"readahead": {"lv": "256s"}}}
    assert _found(simulated.fingerprint_of("lvm_on_md", 128), simulated.fingerprint_of("md"), declared) == []
    nested = {**LVM, "settings": {"lv": {"readahead": "256s"}}}
    assert _found(simulated.fingerprint_of("lvm_on_md", 128), simulated.fingerprint_of("md"), nested) == []


def test_another_layout_brings_its_geometry_with_it(simulated: t.Any) -> None:
    assert _found(simulated.fingerprint_of("lvm_stripe"), simulated.fingerprint_of("md"), STRIPE) == []


@pytest.mark.parametrize(
    ("kind", "section", "field", "value", "text"),
    [
        ("xfs", "xfs", "sunit_bytes", 0, "sunit, 0 B on XFS, 256 KiB on XFS"),
        ("md", "md", "stripe_cache_size", 4096, "stripe cache size, 4096 on md, 256 on md"),
        ("md", "md", "degraded", 1, "degraded, 1 on md, 0 on md"),
        ("md", "md", "bitmap", "+8", "bitmap, +8 on md, none on md"),
        ("lv", "queue", "max_sectors_bytes", 131072, "largest request, 128 KiB on the LV, 1.25 MiB on md"),
        ("disk", "queue", "scheduler", "bfq", "scheduler, bfq, mq-deadline on the disks, mq-deadline on the disks"),
    ],
)
def test_each_setting_that_can_explain_is_found(
    simulated: t.Any, kind: str, section: str, field: str, value: t.Any, text: str
) -> None:
    changed = copy.deepcopy(simulated.fingerprint_of("lvm_on_md"))
    _layer(changed, kind)[section][field] = value
    assert [d.text() for d in _found(changed, simulated.fingerprint_of("md"))] == [text]


def test_a_kernel_that_changed_in_the_middle_is_found(simulated: t.Any) -> None:
    changed = copy.deepcopy(simulated.fingerprint_of("lvm_on_md"))
    changed["host"]["kernel"] = "6.1.0-99-amd64"
    (found,) = _found(changed, simulated.fingerprint_of("md"))
    assert found.text() == "kernel, 6.1.0-99-amd64 on the host, 6.1.0-28-amd64 on the host"


def test_names_and_identities_are_no_settings(simulated: t.Any) -> None:
    changed = copy.deepcopy(simulated.fingerprint_of("lvm_on_md"))
    for layer in changed["layers"]:
        layer.update(name="other", path="/dev/other", size_bytes=5)
    _layer(changed, "md")["md"]["uuid"] = "another"
    _layer(changed, "disk")["disk"]["serial_number"] = "another"
    assert _found(changed, simulated.fingerprint_of("md")) == []


def test_without_a_fingerprint_nothing_is_claimed(simulated: t.Any) -> None:
    assert _found({}, simulated.fingerprint_of("md")) == []
