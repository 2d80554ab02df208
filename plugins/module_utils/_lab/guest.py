# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# This file is private to the collection.

"""What a guest image contains: packages, the set-up before and after they are installed, and the image's key."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import typing as t

from ansible_collections.plumbline.storage.plugins.module_utils._core.errors import PlanRefused

__all__ = ["ROOT_LABEL", "SUITES", "GuestImage", "guest_image"]

SUITES = {"debian12": "bookworm", "debian13": "trixie"}
ROOT_LABEL = "plumb-root"

# Raised when the way of building changes what comes out although package list and texts stay the same.
_BUILDER_VERSION = 1
_ROOT_SIZE_BYTES = 3 * 1024**3

# Only linux-image-amd64 has AHCI, NVMe and virtio-scsi; the cloud kernel lacks AHCI.
_PACKAGES = (
    *("linux-image-amd64", "initramfs-tools", "zstd", "systemd-sysv", "udev", "kmod", "procps", "iproute2"),
    *("openssh-server", "python3", "coreutils", "util-linux", "fdisk", "gdisk", "strace", "psmisc"),
    *("mdadm", "lvm2", "dmsetup", "xfsprogs", "e2fsprogs", "btrfs-progs", "dosfstools", "cryptsetup-bin"),
    *("bcache-tools", "hdparm", "smartmontools", "nvme-cli", "sg3-utils", "fio", "bonnie++"),
)

# What an initramfs of Debian's default (MODULES=most) would find these disks with, and not much more: arrays and
# volume groups are assembled in the initramfs as on a real machine, but it unpacks in a fraction of the time. They are
# added, not force-loaded: loading raid456 for nothing benchmarks RAID6 for two seconds.
_INITRAMFS_MODULES = (
    *("virtio_pci", "virtio_blk", "virtio_scsi", "ahci", "nvme", "sd_mod", "ext4"),
    *("linear", "raid0", "raid1", "raid10", "raid456", "dm_mod", "dm_raid", "dm_mirror", "dm_snapshot"),
)

_MASKED_UNITS = (
    *("apt-daily.timer", "apt-daily-upgrade.timer", "dpkg-db-backup.timer", "e2scrub_all.timer", "fstrim.timer"),
    *("e2scrub_reap.service", "xfs_scrub_all.timer", "smartmontools.service", "smartd.service"),
    *("mdmonitor.service", "mdmonitor-oneshot.timer", "mdcheck_start.timer", "mdcheck_continue.timer"),
    *("lvm2-monitor.service", "nvmefc-boot-connections.service", "nvmf-autoconnect.service"),
    *("getty@tty1.service", "getty.target", "ssh.socket", "sshd-keygen.service", "ldconfig.service"),
    *("systemd-pstore.service", "systemd-binfmt.service", "proc-sys-fs-binfmt_misc.automount"),
    *("systemd-update-utmp.service", "systemd-update-utmp-runlevel.service", "systemd-random-seed.service"),
    *("systemd-networkd.service", "systemd-networkd.socket", "systemd-network-generator.service"),
    *("systemd-timesyncd.service", "systemd-machine-id-commit.service", "systemd-hibernate-clear.service"),
    *("systemd-udev-load-credentials.service", "systemd-journal-catalog-update.service", "systemd-sysusers.service"),
    *("systemd-tpm2-setup.service", "systemd-tpm2-setup-early.service", "systemd-pcrmachine.service"),
    *("dev-hugepages.mount", "dev-mqueue.mount", "sys-kernel-tracing.mount", "sys-kernel-debug.mount"),
    *("sys-kernel-config.mount", "sys-fs-fuse-connections.mount", "modprobe@drm.service", "modprobe@fuse.service"),
    *("modprobe@configfs.service", "modprobe@efi_pstore.service", "run-lock.mount", "tmp.mount"),
)

# Drivers that nothing here needs and whose loading the emulated processor would pay for at each boot.
_BLACKLISTED_MODULES = (
    *("pcspkr", "bochs", "i2c_i801", "lpc_ich", "iTCO_wdt", "psmouse", "joydev", "evdev", "button", "kvm_amd"),
    *("kvm_intel", "kvm", "powernow_k8", "acpi_cpufreq", "qxl", "cirrus", "vmw_vsock_vmci_transport", "vmw_vmci"),
    *("cfg80211", "autofs4", "configfs", "fuse", "ccp", "edac_mce_amd", "serio_raw", "rapl"),
)

# Runs on the building machine with the new root as $1, before the kernel package is unpacked.
_BEFORE_INSTALL = """#!/bin/sh
set -eu
mkdir -p "$1/etc/initramfs-tools/conf.d" "$1/usr/share/initramfs-tools/hooks"
printf 'MODULES=list\\nCOMPRESS=zstd\\nRESUME=none\\nFSTYPE=ext4\\n' > "$1/etc/initramfs-tools/conf.d/plumbline"
cat > "$1/usr/share/initramfs-tools/hooks/plumbline" <<'END'
#!/bin/sh
[ "$1" = prereqs ] && exit 0
. /usr/share/initramfs-tools/hook-functions
for module in @MODULES@; do manual_add_modules $module; done
END
chmod 755 "$1/usr/share/initramfs-tools/hooks/plumbline"
"""

# The seed comes through QEMU's fw_cfg: no second disk that could be taken for one to test with. The address is that
# of QEMU's user network, always the same, so that nothing waits for DHCP.
_SEED_SCRIPT = """#!/bin/sh
set -eu
seed=/sys/firmware/qemu_fw_cfg/by_name/opt/org.plumbline.storage
[ -d "$seed" ] || modprobe qemu_fw_cfg
umask 077
mkdir -p /root/.ssh
cat "$seed/authorized_keys/raw" > /root/.ssh/authorized_keys
cat "$seed/host_key/raw" > /etc/ssh/ssh_host_ed25519_key
name=$(cat "$seed/hostname/raw")
printf '%s\\n' "$name" > /proc/sys/kernel/hostname
umask 022
printf '%s\\n' "$name" > /etc/hostname
printf '127.0.0.1 localhost\\n127.0.1.1 %s\\n' "$name" > /etc/hosts
modprobe virtio_net
ip -batch - <<'IP'
link set lo up
link set eth0 up
address add 10.0.2.15/24 dev eth0
route add default via 10.0.2.2
IP
"""

_AFTER_INSTALL = """#!/bin/sh
set -eu
root=$1
put() { mkdir -p "$(dirname "$root$1")"; cat > "$root$1"; }
: > "$root/etc/fstab"
echo 0123456789abcdef0123456789abcdef | put /etc/machine-id
echo plumb | put /etc/hostname
echo 'nameserver 10.0.2.3' | put /etc/resolv.conf
echo 'Etc/UTC' | put /etc/timezone
ln -sf /usr/share/zoneinfo/Etc/UTC "$root/etc/localtime"
put /etc/systemd/journald.conf.d/lab.conf <<'END'
[Journal]
Storage=volatile
RuntimeMaxUse=32M
END
put /etc/systemd/system.conf.d/lab.conf <<'END'
[Manager]
DefaultTimeoutStartSec=240s
DefaultTimeoutStopSec=60s
END
put /etc/modprobe.d/lab.conf <<'END'
@BLACKLIST@
END
# Applies /etc/hdparm.conf, which is empty, by some shells for each disk.
put /etc/udev/rules.d/85-hdparm.rules < /dev/null
put /usr/local/sbin/plumbline-seed <<'END'
@SEED@END
chmod 755 "$root/usr/local/sbin/plumbline-seed"
put /etc/systemd/system/plumbline-seed.service <<'END'
[Unit]
Description=Take host name and keys from the machine that runs this guest
DefaultDependencies=no
Before=ssh.service
[Service]
Type=oneshot
ExecStart=/usr/local/sbin/plumbline-seed
END
# Whoever gets in by ssh finds all disks there.
put /etc/systemd/system/plumbline-settled.service <<'END'
[Unit]
Description=Wait for the disks
DefaultDependencies=no
After=systemd-udev-trigger.service
[Service]
Type=oneshot
ExecStart=/usr/bin/udevadm settle --timeout=180
TimeoutStartSec=200
END
# Without PAM a login starts no session manager; a password of * (not !) lets the key in.
put /etc/ssh/sshd_config <<'END'
HostKey /etc/ssh/ssh_host_ed25519_key
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
UseDNS no
PrintMotd no
MaxStartups 100
MaxSessions 100
AcceptEnv LANG LC_*
Subsystem sftp /usr/lib/openssh/sftp-server
END
rm -f "$root"/etc/ssh/ssh_host_*
# The service must not wait for the network or for other services: the address is fixed.
put /etc/systemd/system/ssh.service <<'END'
[Unit]
Description=OpenSSH server
DefaultDependencies=no
Requires=plumbline-seed.service
Wants=plumbline-settled.service
After=plumbline-seed.service plumbline-settled.service systemd-tmpfiles-setup.service
Conflicts=shutdown.target
Before=shutdown.target
[Service]
ExecStartPre=/bin/mkdir -p /run/sshd
ExecStart=/usr/sbin/sshd -D
ExecReload=/bin/kill -HUP $MAINPID
KillMode=process
Restart=on-failure
[Install]
WantedBy=multi-user.target
END
echo 'START_DAEMON=false' | put /etc/default/mdadm
chroot "$root" usermod -p '*' root
for unit in @MASKED@; do ln -sf /dev/null "$root/etc/systemd/system/$unit"; done
chroot "$root" systemctl enable ssh.service
rm -rf "$root"/var/lib/apt/lists/* "$root"/var/cache/apt/*.bin "$root"/var/log/*.log "$root"/var/log/apt
mkdir -p "$root/var/lib/apt/lists/partial"
chroot "$root" dpkg-query -W -f '${Package} ${Version}\\n' > "$root/usr/share/plumbline-packages"
touch "$root/etc/.updated" "$root/var/.updated"
"""


@dataclasses.dataclass(frozen=True)
class GuestImage:
    """One guest image before it is built: everything that decides its content, and a key made of that."""

    guest: str
    suite: str
    packages: tuple[str, ...]
    before_install: str
    after_install: str
    root_size_bytes: int
    key: str


def _filled(text: str, values: t.Mapping[str, str]) -> str:
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    return text


def guest_image(guest: str, extra_packages: t.Sequence[str] = ()) -> GuestImage:
    """The image of a guest named C(debian12) or C(debian13); raises PlanRefused for any other."""
    if guest not in SUITES:
        raise PlanRefused(f"the lab was asked for the guest {guest!r}; it can build {' and '.join(sorted(SUITES))}")
    packages = tuple(dict.fromkeys((*_PACKAGES, *sorted(extra_packages))))
    before = _filled(_BEFORE_INSTALL, {"MODULES": " ".join(_INITRAMFS_MODULES)})
    after = _filled(
        _AFTER_INSTALL,
        {
            "SEED": _SEED_SCRIPT,
            "LABEL": ROOT_LABEL,
            "MASKED": " ".join(_MASKED_UNITS),
            "BLACKLIST": "\n".join(f"blacklist {m}\ninstall {m} /bin/false" for m in _BLACKLISTED_MODULES),
        },
    )
    content = [_BUILDER_VERSION, SUITES[guest], packages, before, after, _ROOT_SIZE_BYTES]
    key = hashlib.sha256(json.dumps(content).encode()).hexdigest()[:16]
    return GuestImage(guest, SUITES[guest], packages, before, after, _ROOT_SIZE_BYTES, f"{guest}-{key}")
