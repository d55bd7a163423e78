#!/usr/bin/env bash
# Tells which layers of two builds of the image are the same: compare.sh A.tar B.tar
# Ends with 1 if a layer differs that does not hold the AOT cache.
set -euo pipefail

# What a layer holds is told by its last file.
content() {
  tar -xOf "$1" "$2" | tar --warning=no-unknown-keyword -tzf - | grep -v '/$' | tail -n 1
}

files() {
  tar -xOf "$1" manifest.json | grep -oE '[0-9a-f]{64}\.tar\.gz'
}

differs=0
while read -r a b; do
  what=$(content "$1" "$a")
  if [[ $a == "$b" ]]; then
    echo "same       $what"
  elif [[ $what == *.aot ]]; then
    echo "AOT cache  $what"
  else
    echo "differs    $what"
    differs=1
  fi
done < <(paste -d ' ' <(files "$1") <(files "$2"))
exit "$differs"
