#!/usr/bin/env bash
# Puts together the root file system of the container image:
#   root.sh ROOT DIST RUNTIME LICENSE SBOM
# ROOT is made anew. DIST is the packaged program, RUNTIME the Java runtime of the image, SBOM the folder with the bill of materials of
# its jars. The C library that the runtime is linked to is that of this machine, so the image is of the machine's own architecture.
set -euo pipefail

root=$1 dist=$2 runtime=$3 license=$4 sbom=$5

fail() {
  echo "root.sh: $*" >&2
  exit 1
}

[[ $(uname -s) == Linux ]] || fail "the image holds the C library of the machine that builds it: build it on Linux"
command -v ldd > /dev/null || fail "ldd is missing, which tells the libraries that the Java runtime needs"
# Not by a pipe: one that grep leaves early fails, by chance, since ldd still writes.
version=$(ldd --version 2>&1) || true
grep -qi -e 'glibc' -e 'gnu libc' <<< "$version" || fail "this machine has no GNU C library; maybe build on Debian"
copyright=/usr/share/doc/libc6/copyright
lgpl=/usr/share/common-licenses/LGPL-2.1
locale=/usr/lib/locale/C.utf8/LC_CTYPE
[[ -r $locale ]] || fail "$locale is missing, with which file names are UTF-8"
[[ -r $copyright && -r $lgpl ]] ||
  fail "$copyright or $lgpl is missing: the licence of the C library has to be in the image. Build on Debian or Ubuntu with both"

rm -rf "$root"
mkdir -p "$root"/{etc,opt/apportion,usr/share/doc/libc6,usr/share/doc/apportion,usr/share/common-licenses,usr/share/sbom,var/lib/dpkg/status.d}

cp -a "$runtime" "$root/opt/apportion/runtime"
mkdir "$root/opt/apportion/lib"
cp "$dist"/lib/*.jar "$dist/lib/java.options" "$(dirname "$0")/image.options" "$root/opt/apportion/lib/"

# Every library that a program or library of the runtime is linked to and that is not part of it, and those that the C library opens by
# itself to look up names (they are empty shells since glibc 2.34).
libc=
while read -r library; do
  mkdir -p "$root$(dirname "$library")"
  cp -L "$library" "$root$library"
  case $library in */libc.so.6) libc=$library ;; esac
done < <(
  find "$runtime" \( -name '*.so' -o -path '*/bin/java' -o -name jspawnhelper \) -exec ldd {} + |
    sed -nE 's/^\t(.* => )?(\/[^ ]+) \(0x[0-9a-f]+\)$/\2/p' | grep -v -F "$(cd "$runtime" && pwd -P)/" | sort -u
)
[[ -n $libc ]] || fail "the Java runtime in $runtime is not linked to a libc.so.6"
for library in libresolv.so.2 libnss_dns.so.2 libnss_files.so.2; do
  [[ -e $(dirname "$libc")/$library ]] || fail "$(dirname "$libc")/$library is missing"
  cp -L "$(dirname "$libc")/$library" "$root$(dirname "$libc")/"
done

mkdir -p "$root$(dirname "$locale")"
cp -L "$locale" "$root$locale"

printf '%s\n' 'root:x:0:0:root:/:/nonexistent' 'apportion:x:65532:65532:apportion:/:/nonexistent' > "$root/etc/passwd"
printf '%s\n' 'root:x:0:' 'apportion:x:65532:' > "$root/etc/group"
echo 'hosts: files dns' > "$root/etc/nsswitch.conf"

cp "$license" "$root/usr/share/doc/apportion/LICENSE"
cp "$copyright" "$root/usr/share/doc/libc6/copyright"
cp "$lgpl" "$root/usr/share/common-licenses/LGPL-2.1"

# What scanners look for: which system this is taken from, which version of the C library, and the bills of materials.
cp -L /etc/os-release "$root/etc/os-release"
dpkg-query --status libc6 | grep -v -E '^(Status|Conffiles| )' > "$root/var/lib/dpkg/status.d/libc6"
glibc=$(dpkg-query --show --showformat='${Version}' libc6)
java=$(sed -nE 's/^JAVA_VERSION="(.*)"$/\1/p' "$runtime/release")
cp "$sbom"/apportion.cdx.{json,xml} "$root/usr/share/sbom/"
cat > "$root/usr/share/sbom/system.cdx.json" << EOF
{
  "bomFormat": "CycloneDX",
  "specVersion": "1.6",
  "version": 1,
  "components": [
    {
      "type": "platform",
      "name": "openjdk",
      "version": "$java",
      "description": "Java runtime: modules of a JDK, put together by jlink",
      "licenses": [{"expression": "GPL-2.0-only WITH Classpath-exception-2.0"}]
    },
    {
      "type": "library",
      "name": "libc6",
      "version": "$glibc",
      "description": "GNU C library",
      "licenses": [{"expression": "LGPL-2.1-or-later"}],
      "purl": "pkg:deb/debian/libc6@$glibc?arch=$(dpkg --print-architecture)"
    }
  ]
}
EOF
cp "$root/usr/share/sbom/system.cdx.json" "$sbom/"

# The AOT cache is refused unless the jars have the time at which it was made, and all files of the image get this one.
find "$root" -exec touch --no-dereference --date=@1 {} +
