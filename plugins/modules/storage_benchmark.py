#!/usr/bin/python
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: storage_benchmark
short_description: Measures a block device or a file system with fio and dd
version_added: 0.1.0
author:
  - plumbline.storage contributors (@plumbline)
description:
  - Runs workloads in the order given, each once, and returns one observation per run, with the tool's figures, the CPU
    time of the whole system, the I/O of every disk below, and the settings of every layer (the fingerprint).
  - A file system is mounted for the run only, in a mount and process namespace of its own. Nobody else sees it, and
    nothing stays mounted or running when the run is killed. Its test file is laid out and written in full before it is
    read.
  - A run with C(cold) empties the caches of every layer first, and is invalid when the disks read less than the tool
    did.
  - Before and after a run the arrays below must be complete and idle, and before it nobody else may use the disks. A
    run for which this does not hold is kept, marked invalid with the reason, and repeated once at the end.
  - Reading needs no consent. A workload that writes to a device itself destroys what is on it, so every disk below
    must be named in O(expendable_disks).
options:
  device:
    description:
      - The block device that C(on) V(top_device) means, by any path.
      - Without it, that is the device of O(filesystem).
    type: path
  filesystem:
    description:
      - The block device with the XFS that C(on) V(filesystem) means. It must not be mounted anywhere.
    type: path
  layers:
    description:
      - Further block devices by the name of their layer, for workloads that run C(on) one of them.
    type: dict
    default: {}
  workloads:
    description:
      - What to run, in this order. Each is a mapping with these keys.
      - C(name), unique; C(tool), V(fio) or V(dd); C(on), V(top_device) (the default), V(filesystem) or the name of a
        layer.
      - C(bs), the block size, default V(1MiB); C(size) and C(offset), the part that is used. Sizes need a unit.
      - C(direct) past the page cache; C(cold) with empty caches; both default to V(false).
      - C(primary_metric), the figure that is compared, default V(throughput_bytes_per_second).
      - C(timeout), after which the run counts as hung, such as V(5m). By default that is one minute more than asked
        for, or the time that moving C(size) takes at 2 MB/s and a minute.
      - With fio also C(rw) (default V(read)), C(runtime) and C(ramp) (such as V(30s)), C(iodepth), C(numjobs),
        C(ioengine) V(libaio) (the default) or V(psync), and C(seed).
      - With dd also C(access), V(read) (the default) or V(write).
    type: list
    elements: dict
    required: true
  run_id:
    description: Id of the run that the observations belong to. By default a new one is made.
    type: str
  experiment:
    description: Name of the experiment.
    type: str
    default: ad_hoc
  host:
    description: Name of this host in the observations. By default its own name.
    type: str
  stack:
    description: Name of the stack in the observations. By default the last part of the device's path.
    type: str
  block:
    description: Number of the block, from 1.
    type: int
    default: 1
  position:
    description: Position of the first workload in its block, from 1.
    type: int
    default: 1
  factors:
    description: Further factors of the stack, kept with every observation.
    type: dict
    default: {}
  max_attempts:
    description: How often a workload is run at most when its runs are invalid.
    type: int
    default: 2
  file_size:
    description:
      - Size of the test file in the file system, with a unit. It is rounded up to whole full stripes.
      - By default what the workloads need, or half of the file system, at most 1 GiB.
    type: str
  keep_file:
    description: Leaves the test file in the file system at the end.
    type: bool
    default: false
  spool:
    description: Also appends each observation to C(/var/lib/plumbline/spool/RUN_ID.jsonl) as soon as it is complete.
    type: bool
    default: false
  detach:
    description:
      - Returns at once and goes on in the background. The observations go to the spool, the state of the run to a
        status file beside it; RV(job) says where.
    type: bool
    default: false
  expendable_disks:
    description:
      - Serial numbers or WWNs of disks whose content may be lost. Only workloads that write to a device need them.
    type: list
    elements: raw
    default: []
attributes:
  check_mode:
    description: Returns what would run in RV(planned) and runs nothing. All refusals are the same.
    support: full
  diff_mode:
    description: There is nothing to compare.
    support: none
notes:
  - Needs root, and fio or dd. On a file system also C(unshare), C(mount) and C(fallocate) of util-linux.
"""

EXAMPLES = r"""
- name: Read an array directly for half a minute
  plumbline.storage.storage_benchmark:
    device: /dev/md/data
    workloads:
      - {name: seq_read, tool: fio, rw: read, bs: 1MiB, direct: true, iodepth: 8, ramp: 1s, runtime: 30s}
  register: measured

- name: Show what it gave
  ansible.builtin.debug:
    msg: "{{ measured.observations | map(attribute='metrics') }}"

- name: Read a file cold through the page cache, as many programs do
  plumbline.storage.storage_benchmark:
    filesystem: /dev/vg0/data
    workloads:
      - {name: buffered_read, tool: dd, on: filesystem, access: read, bs: 1MiB, size: 4GiB, cold: true}
"""

RETURN = r"""
observations:
  description: One per run, in the order they ran. All sizes are bytes, all times seconds, all moments RFC 3339 in UTC.
  returned: when it ran in the foreground
  type: list
  elements: dict
  contains:
    workload:
      description: Name of the workload.
      type: str
    attempt:
      description: 2 for the repetition of an invalid run.
      type: int
    valid:
      description: Whether the run may be analysed.
      type: bool
    invalid_reason:
      description: Why not, as a sentence; null when it may.
      type: str
    metrics:
      description:
        - Figures with the unit in the name. From the tool C(throughput_bytes_per_second), C(iops), C(bytes),
          C(duration_seconds), with fio also C(requests) and C(latency_mean_seconds), C(latency_p50_seconds),
          C(latency_p95_seconds), C(latency_p99_seconds), C(latency_p99_9_seconds) and C(latency_max_seconds), with
          C(read_) or C(write_) before them when the workload does both.
        - From the system C(cpu_user_seconds), C(cpu_system_seconds) and C(cpu_busy_fraction) of all CPUs together,
          C(tool_user_seconds) and C(tool_system_seconds) of the tool alone, C(wall_seconds) by our own clock, and
          C(prepare_seconds) where the test file was written for this run.
      type: dict
    primary_metric:
      description: Name of the metric that is compared.
      type: str
    members:
      description:
        - One entry per disk below, with C(kernel_name), C(serial_number), C(read_bytes), C(written_bytes),
          C(read_requests), C(write_requests), C(busy_seconds), C(read_bytes_per_second) and
          C(written_bytes_per_second).
      type: list
      elements: dict
    gates:
      description: What was seen C(before) and C(after) the run.
      type: dict
    fingerprint:
      description: C(layers) from the top to the disks with their settings, and C(host).
      type: dict
    settings_hash:
      description: SHA-256 over the fingerprint without UUIDs, names, times and serial numbers.
      type: str
    disks_hash:
      description: SHA-256 over the identity of the disks.
      type: str
    raw_output:
      description: C(stdout), C(stderr) and C(exit_code) of the tool.
      type: dict
planned:
  description: What would run, with C(workload), C(device), C(command) and C(expected_seconds).
  returned: always
  type: list
  elements: dict
job:
  description: The background run, with C(pid), C(run_id) and the paths C(spool), C(status), C(lease) and C(log).
  returned: when O(detach=true)
  type: dict
run_id:
  description: Id of the run.
  returned: always
  type: str
  sample: 20261130-a1f3
"""

import typing as t

import ansible_collections.plumbline.storage.plugins.module_utils._core.archive  # noqa: F401  # pylint: disable=unused-import
from ansible.module_utils.basic import AnsibleModule
from ansible_collections.plumbline.storage.plugins.module_utils._bench.task import make_task
from ansible_collections.plumbline.storage.plugins.module_utils._core.command import Runner
from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import StorageError

ARGUMENT_SPEC: dict[str, t.Any] = {
    "device": {"type": "path"},
    "filesystem": {"type": "path"},
    "layers": {"type": "dict", "default": {}},
    "workloads": {"type": "list", "elements": "dict", "required": True},
    "run_id": {"type": "str"},
    "experiment": {"type": "str", "default": "ad_hoc"},
    "host": {"type": "str"},
    "stack": {"type": "str"},
    "block": {"type": "int", "default": 1},
    "position": {"type": "int", "default": 1},
    "factors": {"type": "dict", "default": {}},
    "max_attempts": {"type": "int", "default": 2},
    "file_size": {"type": "str"},
    "keep_file": {"type": "bool", "default": False},
    "spool": {"type": "bool", "default": False},
    "detach": {"type": "bool", "default": False},
    "expendable_disks": {"type": "list", "elements": "raw", "default": []},
}


def run(module: AnsibleModule) -> dict[str, t.Any]:
    """Checks, then in check mode says what would run, else runs it or starts it in the background."""
    runner = Runner(check_mode=module.check_mode)
    task = make_task(module.params)
    result = {"changed": task.changes, "run_id": task.context.run_id, "planned": task.check(runner)}
    if module.check_mode:
        return result
    if module.params["detach"]:
        return {**result, "job": task.start_detached(runner)}
    return {**result, "observations": task.run(runner)}


def main() -> t.NoReturn:
    module = AnsibleModule(
        argument_spec=ARGUMENT_SPEC, supports_check_mode=True, required_one_of=[("device", "filesystem")]
    )
    try:
        result = run(module)
    except StorageError as error:
        module.fail_json(msg=error.message, **error.details())
    module.exit_json(**result)


if __name__ == "__main__":
    main()
