#!/bin/bash
# Copyright (c) 2026, plumbline.storage contributors
# GNU General Public License v3.0+ (see LICENSES/GPL-3.0-or-later.txt or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
#
# usage: guest_state.sh DISK...     in a guest: prints everything that a change of storage would change.
#
# Of a disk this is how much was ever written to it, by the kernel's count. Where something that writes by itself stands on it
# (an array, a mirrored volume, a mounted file system), it is the content of its first MiB.
sync
udevadm settle
lsblk -nro NAME,SIZE,RO,TYPE,FSTYPE,LABEL,UUID,MOUNTPOINTS
grep '^md' /proc/mdstat | sed 's/(auto-read-only) //'
ls /dev/md 2>/dev/null
md5sum /etc/mdadm/mdadm.conf 2>/dev/null
for md in /sys/block/md*; do
    cat "$md/size" "$md/queue/read_ahead_kb" "$md/md/consistency_policy" "$md"/md/dev-*/slot "$md"/md/dev-*/state 2>/dev/null
done
awk '$2 ~ "^/mnt/"' /proc/self/mounts
mounted=$(df -B1 --output=source,size 2>/dev/null | grep '^/dev/' | grep -v "^$(findmnt -no SOURCE /) ")
echo "$mounted"
tables=
if compgen -G '/dev/dm-[0-9]*' >/dev/null; then
    tables=$(dmsetup table | sort)
    echo "$tables"
    lvm fullreport -a --foreign --reportformat basic --units b --configreport pv -o pv_uuid,pv_name,pv_attr,pv_size,pv_free,pv_tags \
        --configreport vg -o vg_uuid,vg_name,vg_attr,vg_extent_size,vg_extent_count,vg_free_count,vg_tags,vg_seqno \
        --configreport lv -o lv_uuid,lv_name,lv_attr,lv_size,lv_tags,lv_read_ahead --configreport seg -o segtype,seg_pe_ranges \
        --configreport pvseg -o pvseg_start,pvseg_size 2>/dev/null | sed 's/ Iwi/ iwi/' # an image that is found out of step
fi
writes_alone=
[ -n "$mounted" ] || [[ $tables =~ \ (raid|mirror)\  ]] && writes_alone=1
for disk in "$@"; do
    name=${disk#/dev/}
    [ -e "/sys/block/$name/stat" ] || continue
    holders=$(echo "/sys/block/$name"/holders/* "/sys/block/$name/$name"*/holders/*)
    [[ $holders == */md[0-9]* ]] && continue
    read -r _ _ _ _ _ _ written _ <"/sys/block/$name/stat"
    if [ -z "$writes_alone" ] || { [[ $holders != */dm-[0-9]* ]] && [[ $mounted != *"$disk"* ]]; }; then
        echo "$disk $written sectors"
    elif [[ $mounted == *"$disk "* ]]; then
        dd if="$disk" bs=4k count=1 iflag=direct status=none | head -c 128 | md5sum # counters of a mounted XFS come behind
    else
        dd if="$disk" bs=1M count=1 iflag=direct status=none | md5sum # behind it lies what writes by itself
    fi
done
for top in /dev/md[0-9]* /dev/dm-[0-9]*; do
    [ -b "$top" ] && dd if="$top" bs=4k count=1 iflag=direct status=none | head -c 128 | md5sum
done
exit 0
