# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""One function per kind of disk: what its sysfs directory tells of its identity."""

from __future__ import annotations

import os
import re
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._block.model import BlockNode
from ansible_collections.plumbline.storage.plugins.module_utils._block.sysfs import read_bytes, read_int, read_text
from ansible_collections.plumbline.storage.plugins.module_utils._disk.ata import parse_ata_information_page
from ansible_collections.plumbline.storage.plugins.module_utils._disk.scsi import (
    parse_designators,
    parse_rotation_rate,
    parse_unit_serial,
)

__all__ = ["identity_fields"]

Fields = dict[str, t.Any]
_VIRTUAL_VENDOR = re.compile(r"(qemu|vmware|vbox|msft|virtual|google|amazon|xen)", re.IGNORECASE)
_RAID_VENDOR = re.compile(r"(lsi|perc|dell|hp|hpe|adaptec|avago|broadcom|smartarray)", re.IGNORECASE)
_RAID_MODEL = re.compile(r"(logical volume|perc|mr\d{4}|virtual disk|raid)", re.IGNORECASE)
_TRANSPORTS = (
    (r"/usb\d", "usb"),
    (r"/end_device-", "sas"),
    (r"/session\d+/", "iscsi"),
    (r"/rport-", "fc"),
    (r"/ata\d+/", "sata"),
)


def identity_fields(node: BlockNode) -> Fields:
    """Fields of DiskIdentity that depend on the kind of disk. Empty texts are None."""
    directory = node.sysfs_path
    if node.kind == "loop":
        return {"device_kind": "loop", "transport": "unknown", "loop_backing_file": node.loop_backing_file}
    if node.kind != "disk":
        return {"device_kind": "unknown"}
    if node.kernel_name.startswith("nvme"):
        return _nvme(directory, node)
    if re.search(r"/virtio\d+/block/", directory):
        return _virtio(directory)
    if node.kernel_name.startswith("mmcblk"):
        return _mmc(directory)
    if read_text(os.path.join(directory, "device/vendor")) is not None:
        return _scsi(directory, node)
    return {"device_kind": "virtual_disk" if node.kernel_name.startswith("xvd") else "physical_disk"}


def _nvme(directory: str, node: BlockNode) -> Fields:
    """The controller's (or, with several paths, the subsystem's) identity and the namespace's own name."""
    device = os.path.join(directory, "device")
    wwid = read_text(os.path.join(directory, "wwid")) or ""
    model = read_text(os.path.join(device, "model"))
    number = re.fullmatch(r"nvme\d+n(\d+)", node.kernel_name)
    return {
        "device_kind": _virtual_or_physical(None, model),
        "transport": "nvme",
        "model": model,
        "model_complete": model is not None,
        "serial_number": read_text(os.path.join(device, "serial")),
        "wwn": wwid.lower() if wwid.startswith(("eui.", "uuid.")) else None,
        **_firmware(read_text(os.path.join(device, "firmware_rev")), "nvme sysfs", True),
        "namespace_id": read_int(os.path.join(directory, "nsid")) or (int(number.group(1)) if number else None),
        "subsystem_nqn": read_text(os.path.join(device, "subsysnqn")),
        "rotation_rate_rpm": 0 if node.rotational is False else None,
    }


def _virtio(directory: str) -> Fields:
    """virtio has a serial number of up to 20 characters and nothing else; what it says of rotation is not true."""
    return {
        "device_kind": "virtual_disk",
        "transport": "virtio",
        "serial_number": read_text(os.path.join(directory, "serial")),
    }


def _mmc(directory: str) -> Fields:
    device = os.path.join(directory, "device")
    return {
        "transport": "mmc",
        "model": read_text(os.path.join(device, "name")),
        "serial_number": read_text(os.path.join(device, "cid")),
        **_firmware(read_text(os.path.join(device, "fwrev")), "mmc sysfs", True),
        "rotation_rate_rpm": 0,
    }


def _scsi(directory: str, node: BlockNode) -> Fields:
    device = os.path.join(directory, "device")
    transport = _transport(directory)
    fields: Fields = {
        "transport": transport,
        "scsi_address": _link_name(device),
        "queue_depth": read_int(os.path.join(device, "queue_depth")),
        "wwn": parse_designators(read_bytes(os.path.join(device, "vpd_pg83"))) or _wwid(device),
        "serial_number": parse_unit_serial(read_bytes(os.path.join(device, "vpd_pg80"))),
    }
    ata = parse_ata_information_page(read_bytes(os.path.join(device, "vpd_pg89")))
    if ata is None:
        return {**fields, **_plain_scsi(device, node, transport)}
    return {
        **fields,
        "device_kind": _virtual_or_physical(None, ata.model),
        "transport": "sata" if transport in ("unknown", "scsi", "sas") else transport,
        "model": ata.model,
        "model_complete": True,
        "serial_number": ata.serial_number or fields["serial_number"],
        "wwn": ata.wwn or fields["wwn"],
        "rotation_rate_rpm": _rate(ata.rotation_rate_rpm, node),
        **_firmware(ata.firmware_revision, "vpd_pg89", True),
    }


def _plain_scsi(device: str, node: BlockNode, transport: str) -> Fields:
    vendor, model = read_text(os.path.join(device, "vendor")), read_text(os.path.join(device, "model"))
    # libata cuts model and firmware of an ATA disk to SCSI's 16 and 4 characters; SAS has no more than these.
    cut = vendor == "ATA" or transport == "usb"
    return {
        "device_kind": _virtual_or_physical(vendor, model),
        "vendor": vendor,
        "model": model,
        "model_complete": not cut,
        "rotation_rate_rpm": _rate(parse_rotation_rate(read_bytes(os.path.join(device, "vpd_pgb1"))), node),
        **_firmware(read_text(os.path.join(device, "rev")), "scsi sysfs", not cut),
    }


def _firmware(revision: str | None, source: str, complete: bool) -> Fields:
    if revision is None:
        return {"firmware_revision": None, "firmware_source": None, "firmware_complete": False}
    return {"firmware_revision": revision, "firmware_source": source, "firmware_complete": complete}


def _rate(reported: int | None, node: BlockNode) -> int | None:
    """The kernel calls a disk rotational when it says nothing; only "not rotational" is a statement."""
    return 0 if reported is None and node.rotational is False else reported


def _transport(directory: str) -> str:
    return next((name for pattern, name in _TRANSPORTS if re.search(pattern, directory)), "scsi")


def _virtual_or_physical(vendor: str | None, model: str | None) -> str:
    text = f"{vendor or ''} {model or ''}".strip()
    if _VIRTUAL_VENDOR.match(text):
        return "virtual_disk"
    if vendor is not None and _RAID_VENDOR.match(vendor) and _RAID_MODEL.search(model or ""):
        return "raid_volume"
    return "physical_disk"


def _link_name(link: str) -> str | None:
    try:
        return os.path.basename(os.readlink(link))
    except OSError:
        return None


def _wwid(device: str) -> str | None:
    text = (read_text(os.path.join(device, "wwid")) or "").lower()
    return text if text.startswith(("naa.", "eui.")) else None
