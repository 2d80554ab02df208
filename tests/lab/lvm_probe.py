# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Volume groups for tests, made and read with LVM's own commands."""

from __future__ import annotations

import typing as t

from direct import Direct

GROUP = "pl_t"


def make_group(direct: Direct, serials: t.Sequence[str], name: str = GROUP, extent: str = "4m") -> list[str]:
    """A volume group on these disks; their paths."""
    paths = [direct.disks[serial] for serial in serials]
    direct.guest.ssh(f"vgcreate -qy -s {extent} {name} {' '.join(paths)} >/dev/null")
    return paths


def remove_volumes(direct: Direct, name: str = GROUP) -> None:
    direct.guest.ssh(
        f"for d in $(awk '$2 ~ \"^/mnt/\" {{print $2}}' /proc/self/mounts); do umount $d; done; "
        f"lvs --noheadings -o lv_name {name} 2>/dev/null | grep -q . && lvremove -qfy {name} >/dev/null 2>&1; udevadm settle"
    )


def columns(direct: Direct, volume: str, *fields: str, group: str = GROUP) -> list[str]:
    """What C(lvs) says of the first segment of a volume, in bytes."""
    text = direct.guest.ssh(
        f"lvs --noheadings --units b --nosuffix --separator '|' -o {','.join(fields)} {group}/{volume} 2>/dev/null | head -1"
    )
    return [word.strip() for word in text.strip().split("|")]
