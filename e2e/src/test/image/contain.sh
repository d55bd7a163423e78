#!/usr/bin/env bash
# Runs a command in the root file system of an image, as a container runtime would at its strictest: read-only, without capabilities or
# new privileges, as user 65532, with the variables that stand before the command alone. Of the machine it sees /proc, /dev and FOLDER,
# read-only, under its own name. Needs root.
#   contain.sh ROOT FOLDER [VARIABLE=VALUE...] COMMAND [ARGUMENT...]
set -euo pipefail

if [[ $1 != --within ]]; then
  exec unshare --mount "$0" --within "$@"
fi
root=$2 folder=$3
shift 3
mkdir -p "$root"/{proc,dev} "$root$folder"
mount --bind "$root" "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount --bind "$folder" "$root$folder"
mount -o remount,bind,ro "$root$folder"
mount -o remount,bind,ro "$root"
variables=()
while [[ $1 == [A-Z]*=* ]]; do
  variables+=("$1")
  shift
done
exec setpriv --no-new-privs \
  env -i "${variables[@]}" "$(command -v chroot)" --userspec=65532:65532 --groups= "$root" "$@"
