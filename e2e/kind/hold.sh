#!/usr/bin/env bash
# Holds a kind cluster's Docker engine for as long as its standard input is open, and then takes everything away: however the tests end,
# even by SIGKILL, the end of their process closes the pipe.
#
#   hold.sh KIND CLUSTER FOLDER                  on the Docker engine that runs already
#   hold.sh KIND CLUSTER FOLDER DATA SOCKETS     starts an engine with its data in DATA and its sockets in SOCKETS, and ends it; one at a time
#
# FOLDER is the run's own and goes with it.
# Says "waiting" on standard output while another run has SOCKETS, "ready" when the engine answers, "failed" and why, if it does not.
set -euo pipefail
# Ctrl-C reaches the whole process group: what is to be done afterwards must not end with it.
trap '' INT TERM HUP
kind=$1 cluster=$2 folder=$3 data=${4-} sockets=${5-}
here=$(cd "$(dirname "$0")" && pwd)
engine=''

# A "kind create" that was cut off may still be adding containers.
delete_cluster() {
  for _ in 1 2 3 4 5; do
    timeout 60 "$kind" delete cluster --name "$cluster" --kubeconfig "$folder/kubeconfig" >&2 || true
    if [ -z "$(timeout 20 docker ps --quiet --all --filter "label=io.x-k8s.kind.cluster=$cluster" || true)" ]; then
      return
    fi
    sleep 1
  done
}

end_engine() {
  docker network rm kind > /dev/null 2>&1 || true
  kill -TERM "$engine" 2>/dev/null || true
  for _ in $(seq 150); do
    kill -0 "$engine" 2>/dev/null || break
    sleep 0.1
  done
  kill -KILL "$engine" 2>/dev/null || true
  wait "$engine" 2>/dev/null || true
  remove_rest
}

remove_rest() {
  # What an engine leaves in the kernel when it ends.
  ip link delete docker0 2>/dev/null || true
  local family
  for family in iptables ip6tables; do
    if [ -f "$sockets/$family" ]; then
      "$family-restore" < "$sockets/$family" || true
    fi
  done
  if [ -f "$sockets/ip_forward" ]; then
    cat "$sockets/ip_forward" > /proc/sys/net/ipv4/ip_forward
  fi
  # Mounts of containers that an engine did not live to undo.
  awk -v data="$data/" -v sockets="$sockets/" 'index($2, data) == 1 || index($2, sockets) == 1 {print $2}' /proc/mounts |
    sort -r | xargs -r umount --lazy || true
  rm -rf "$data" "$sockets"
}

# The rules of packet filtering that there are; of a table that is not there, none.
rules() {
  local saved
  saved=$("$1-save")
  echo "$saved"
  if ! grep -qx '\*filter' <<< "$saved"; then
    printf '%s\n' '*filter' ':INPUT ACCEPT' ':FORWARD ACCEPT' ':OUTPUT ACCEPT' COMMIT
  fi
  if ! grep -qx '\*nat' <<< "$saved"; then
    printf '%s\n' '*nat' ':PREROUTING ACCEPT' ':INPUT ACCEPT' ':OUTPUT ACCEPT' ':POSTROUTING ACCEPT' COMMIT
  fi
}

# By the sockets, which all runs on a machine share, wherever they keep their data.
await_turn() {
  mkdir -p "$(dirname "$sockets")"
  exec 9> "$sockets.lock"
  flock --nonblock 9 || echo waiting
  until flock --wait 1 9; do
    kill -0 "$PPID" 2>/dev/null || exit 0
  done
}

# This script itself was killed once, and could not take its engine away.
end_forgotten() {
  local pid
  pid=$(cat "$sockets/pid" 2>/dev/null || true)
  if [ -n "$pid" ] && tr '\0' ' ' < "/proc/$pid/cmdline" 2>/dev/null | grep -qF -- "--exec-root $sockets/exec "; then
    engine=$pid
    end_engine
    engine=''
  elif [ -e "$data" ] || [ -e "$sockets" ]; then
    remove_rest
  fi
}

start_engine() {
  mkdir -p "$data" "$sockets"
  local family arguments=()
  for family in iptables ip6tables; do
    rules "$family" > "$sockets/$family" || rm -f "$sockets/$family"
  done
  cat /proc/sys/net/ipv4/ip_forward > "$sockets/ip_forward"
  echo '{}' > "$sockets/daemon.json"
  # Bit 24 of the bounding set: CAP_SYS_RESOURCE, capabilities(7).
  if ((!(0x$(awk '/^CapBnd/ {print $2}' /proc/self/status) >> 24 & 1))); then
    arguments+=(--add-runtime "held=$here/runc-held-capabilities" --default-runtime held)
  fi
  (
    trap - INT TERM HUP
    exec setsid dockerd --config-file "$sockets/daemon.json" --data-root "$data" --exec-root "$sockets/exec" --pidfile "$sockets/pid" \
      --host "$DOCKER_HOST" "${arguments[@]}" > "$sockets/dockerd.log" 2>&1 < /dev/null 9>&-
  ) &
  engine=$!
  for _ in $(seq 120); do
    if timeout 5 docker info > /dev/null 2>&1; then
      return
    fi
    if ! kill -0 "$engine" 2>/dev/null; then
      break
    fi
    sleep 0.5
  done
  echo failed
  tail -20 "$sockets/dockerd.log"
  end_engine
  exit 1
}

# All in one function: bash has read the whole file before it begins to wait.
main() {
  if [ -n "$data" ]; then
    export DOCKER_HOST=unix://$sockets/docker.sock
    await_turn
    end_forgotten
    start_engine
  fi
  echo ready
  while read -r _; do :; done
  delete_cluster
  if [ -n "$engine" ]; then
    end_engine
  else
    # Somebody else's engine keeps no image of ours; one that another run still uses cannot be removed, and stays.
    docker images --format '{{.Repository}}:{{.Tag}}' --filter 'reference=apportion-e2e/*' | xargs -r docker rmi >&2 || true
  fi
  rm -rf "$folder"
  exit
}

main
