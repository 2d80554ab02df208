#!/bin/bash
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: guest_clean.sh DISK...     in a guest: takes down everything that stands on the test disks and wipes them.
#
# Prints what could not be taken down. Only disks that were written since they were cleaned are wiped, by the kernel's count,
# because that is what takes the time.
seen=/run/plumbline-clean
mkdir -p "$seen"
quiet() { "$@" >/dev/null 2>&1; }
# Which disk it is, and how many sectors were written to it.
mark() {
    read -r _ _ _ _ _ _ written _ <"/sys/block/$1/stat"
    echo "$(<"/sys/block/$1/diskseq") $written"
}
is_clean() { [ "$(cat "$seen/$1" 2>/dev/null)" = "$(mark "$1")" ]; }

awk '$2 ~ "^/mnt/" {print $2}' /proc/self/mounts | sort -r | while read -r dir; do umount "$dir"; done
grep -ls 'plumbline.storage' /etc/systemd/system/*.mount 2>/dev/null | while read -r unit; do
    quiet systemctl disable --now "$(basename "$unit")"
    rm -f "$unit"
done
grep -qs '^ARRAY' /etc/mdadm/mdadm.conf && sed -i '/^ARRAY/d' /etc/mdadm/mdadm.conf
rm -rf /var/lib/plumbline/stacks/* /var/lib/plumbline/arrays/*

written=()
for disk in "$@"; do
    is_clean "${disk#/dev/}" || written+=("$disk")
done
# A second group of every layer may stand on the first, hence three rounds; what is not there is passed over.
for _ in 1 2 3; do
    compgen -G '/dev/dm-[0-9]*' >/dev/null || compgen -G '/dev/md[0-9]*' >/dev/null || [ "${#written[@]}" -gt 0 ] || break
    vgs --noheadings -o vg_name 2>/dev/null | while read -r vg; do
        quiet vgremove -qffy "$vg" || quiet vgreduce -q --removemissing -f "$vg"
    done
    compgen -G '/dev/dm-[0-9]*' >/dev/null && quiet dmsetup remove_all
    for md in /dev/md[0-9]*; do
        [ -b "$md" ] && { quiet wipefs -qaf "$md"; quiet mdadm --stop "$md"; }
    done
    udevadm settle
    compgen -G '/dev/dm-[0-9]*' >/dev/null || compgen -G '/dev/md[0-9]*' >/dev/null || break
done
for disk in "${written[@]}"; do
    name=${disk#/dev/}
    for part in "/sys/block/$name/$name"*; do
        [ -e "$part/partition" ] && wipefs -qaf "/dev/$(basename "$part")"
    done
    wipefs -qaf "$disk" >/dev/null
    size=$(blockdev --getsize64 "$disk")
    blkdiscard -f "$disk" 2>/dev/null
    # A reshape moves the data of an array some MiB away from the start.
    dd if=/dev/zero of="$disk" bs=4M count=12 conv=notrunc oflag=direct status=none
    dd if=/dev/zero of="$disk" bs=1M count=16 seek=$((size / 1048576 - 16)) conv=notrunc oflag=direct status=none
    blockdev --rereadpt "$disk" 2>/dev/null
done
udevadm settle
for disk in "${written[@]}"; do
    mark "${disk#/dev/}" >"$seen/${disk#/dev/}"
done
grep '^md' /proc/mdstat
compgen -G '/dev/dm-[0-9]*'
[ "${#written[@]}" = 0 ] || pvs --noheadings -o pv_name 2>/dev/null
exit 0
