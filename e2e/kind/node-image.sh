#!/usr/bin/env bash
# Builds kind's node image where no image registry can be reached: a root file system of Debian packages, the files of kind's own base
# image, Kubernetes' programs, and the images of a control plane made from nothing but these programs.
#
#   node-image.sh PROGRAMS BASE VERSION TAG FILE
#
# PROGRAMS: folder of the programs. BASE: kind's images/base/files. VERSION: of Kubernetes. The image gets TAG and is saved as FILE.
set -euo pipefail
programs=$1 base=$2 version=$3 tag=$4 file=$5
work=$(mktemp -d)
node=apportion-node-image-$$
made=()
cleanup() {
  docker rm --force --volumes "$node" > /dev/null 2>&1 || true
  if ((${#made[@]})); then docker rmi --force "${made[@]}" > /dev/null 2>&1 || true; fi
  rm -rf "$work"
}
trap cleanup EXIT
start=$(date +%s)
lap() { echo "node image: $1, $(($(date +%s) - start)) s"; }

# 1. Debian, from the sources and the release that this machine has.
codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
packages=systemd,conntrack,iptables,nftables,iproute2,ethtool,util-linux,mount,kmod,libseccomp2,bash,ca-certificates,curl,jq,procps
packages+=,runc,containernetworking-plugins,findutils,hostname
for list in /etc/apt/sources.list /etc/apt/sources.list.d/*.{list,sources}; do
  if grep -qswF "$codename" "$list"; then
    cat "$list"
    echo
  fi
done > "$work/sources"
mmdebstrap --quiet --variant=essential --include="$packages" \
  --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Languages "none"' \
  --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/man/*' --dpkgopt='path-exclude=/usr/share/locale/*' \
  "$codename" "$work/root.tar" "$work/sources"
made+=("$node-root:1")
docker import "$work/root.tar" "$node-root:1" > /dev/null
rm "$work/root.tar"
docker run --detach --name "$node" --network none --security-opt seccomp=unconfined --entrypoint sleep "$node-root:1" infinity > /dev/null
lap 'root file system'

# 2. What kind's own base image adds to it.
mkdir "$work/base"
cp -r --no-preserve=mode,ownership "$base/." "$work/base"
rm -f "$work/base/etc/systemd/system/containerd-fuse-overlayfs.service"
# A machine without CAP_SYS_RESOURCE may only raise the scores by which the kernel chooses what to end.
sed -i 's/restrict_oom_score_adj = false/restrict_oom_score_adj = true/' "$work/base/etc/containerd/config.toml"
chmod 755 "$work"/base/usr/local/bin/* "$work"/base/kind/bin/*
install -m 755 "$programs/containerd" "$programs/ctr" "$programs/containerd-shim-runc-v2" "$work/base/usr/local/bin/"
install -D -m 755 -t "$work/base/usr/bin" "$programs/kubeadm" "$programs/kubelet" "$programs/kubectl"
mkdir -p "$work/base/kind/manifests"
printf %s "$version" > "$work/base/kind/version"
cat > "$work/base/kind/manifests/default-storage.yaml" << 'YAML'
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: standard, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: kubernetes.io/host-path
YAML
tar -C "$work/base" --owner=0 --group=0 -c . | docker cp - "$node:/"
docker exec "$node" bash -euc '
  mkdir -p /opt/cni /etc/kubernetes/manifests /etc/cni/net.d
  ln -s /usr/lib/cni /opt/cni/bin
  rm -f /lib/systemd/system/multi-user.target.wants/* /etc/systemd/system/*.wants/* /lib/systemd/system/local-fs.target.wants/* \
    /lib/systemd/system/sockets.target.wants/*udev* /lib/systemd/system/sockets.target.wants/*initctl* \
    /lib/systemd/system/basic.target.wants/* /lib/systemd/system/sysinit.target.wants/systemd-tmpfiles-setup.service
  echo ReadKMsg=no >> /etc/systemd/journald.conf
  ln -sf /lib/systemd/systemd /sbin/init
  systemctl --quiet enable kubelet.service containerd.service undo-mount-hacks.service
  systemctl --quiet mask systemd-binfmt.service
  ctr oci spec | jq ".hooks.createContainer += [{\"path\": \"/kind/bin/mount-product-files.sh\"}] | del(.process.rlimits)" \
    > /etc/containerd/cri-base.json' 2> "$work/log" || { cat "$work/log"; exit 1; }
lap 'base of kind'

# 3. The images of the control plane, under the names that kubeadm and containerd ask for, whatever version of etcd and CoreDNS these say.
import() { # FOLDER CHANGE NAME...
  local folder=$1 change=$2 name
  shift 2
  for name in "$@"; do
    tar -C "$folder" --owner=0 --group=0 -c . | docker import --change "$change" - "$name" > /dev/null
    made+=("$name")
  done
}
search='ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
sandbox=$(sed -n 's/.*sandbox_image *= *"\(.*\)".*/\1/p' "$base/etc/containerd/config.toml")
mapfile -t wanted < <("$programs/kubeadm" config images list --kubernetes-version "$version" 2> /dev/null)
images=()
for name in "${wanted[@]}"; do
  program=${name##*/}
  program=${program%%:*}
  image=$work/$program
  case $program in
    kube-apiserver | kube-controller-manager | kube-scheduler | etcd)
      install -D "$programs/$program" "$image/usr/local/bin/$program"
      import "$image" "$search" "$name"
      ;;
    coredns)
      install -D "$programs/coredns" "$image/coredns"
      import "$image" 'ENTRYPOINT ["/coredns"]' "$name"
      ;;
    pause)
      install -D "$programs/traffic" "$image/pause"
      import "$image" 'ENTRYPOINT ["/pause", "wait"]' "$name"
      if [ "$sandbox" != "$name" ]; then
        import "$image" 'ENTRYPOINT ["/pause", "wait"]' "$sandbox"
        images+=("$sandbox")
      fi
      ;;
    kube-proxy)
      install -D "$programs/kube-proxy" "$image/usr/local/bin/kube-proxy"
      docker exec "$node" bash -euc '
        programs="/usr/sbin/nft /usr/sbin/xtables-nft-multi /usr/sbin/xtables-legacy-multi /usr/sbin/conntrack /usr/bin/kmod /bin/sh"
        extensions=$(echo /usr/lib/*/xtables)
        libraries=$(for i in $programs "$extensions"/*.so; do ldd "$i"; done | grep -o "/[^ ]*" | sort -u)
        tar -ch $programs $libraries $extensions 2> /dev/null' | tar -x -C "$image"
      for alias in iptables iptables-save iptables-restore ip6tables ip6tables-save ip6tables-restore; do
        ln -s xtables-nft-multi "$image/usr/sbin/$alias"
      done
      import "$image" "$search" "$name"
      ;;
    *)
      echo "kubeadm $version asks for an image that this script cannot make: $name" >&2
      exit 1
      ;;
  esac
  images+=("$name")
done
docker exec "$node" bash -euc '
  nohup containerd > /tmp/containerd.log 2>&1 &
  for _ in $(seq 50); do ctr version > /dev/null 2>&1 && exit 0; sleep 0.2; done
  cat /tmp/containerd.log; exit 1'
docker save "${images[@]}" |
  docker exec --interactive "$node" ctr --namespace=k8s.io images import --label=io.cri-containerd.pinned=pinned --all-platforms \
    --no-unpack --digests - > /dev/null
docker exec "$node" bash -c 'pkill -x containerd; sleep 1; rm -rf /tmp/* /run/containerd'
lap "${#images[@]} images of the control plane"

# 4. The node.
docker commit --change 'ENTRYPOINT ["/usr/local/bin/entrypoint", "/sbin/init"]' --change 'ENV container=docker' \
  "$node" "$tag" > /dev/null
docker save --output "$file" "$tag"
lap "saved with $(du -m "$file" | cut -f1) MB"
