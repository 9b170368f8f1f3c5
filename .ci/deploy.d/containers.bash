# Functions of the steps: podman with storage of its own, in a host of its own.

# The base of releases cannot be pulled everywhere: this one has the same Python.
BASE_SUITE=trixie

containers() {
    podman --root "$WORK/storage" --runroot "$WORK/run" "$@"
}

# A build reaches the package indexes as this machine does: with its certificates and pip's configuration.
build() { # arguments of podman build
    local mounts=() path
    for path in /etc/ssl/certs /etc/pip.conf; do
        [ ! -e "$path" ] || mounts+=(--volume "$path:$path:ro")
    done
    containers build --quiet --isolation chroot --format docker "${mounts[@]}" "$@"
}

build_image() { # its name is store-directory
    if ! containers image exists base; then
        mmdebstrap --quiet --variant=minbase --dpkgopt=force-unsafe-io \
            --include=python3-venv,ca-certificates "$BASE_SUITE" "$WORK/base.tar"
        containers import --quiet "$WORK/base.tar" base
        rm "$WORK/base.tar"
    fi
    build --build-arg BASE=localhost/base --build-arg VERSION="$(sed -n 's/^__version__.*"\(.*\)"$/\1/p' service/__init__.py)" \
        --file deploy/container/Containerfile --tag store-directory .
}

# Runs a script again in namespaces of its own, of mounts and network: ports are free there, and control groups are
# version 2, which not every machine has.
in_own_host() { # the script and its arguments
    unshare --mount --net bash -c 'umount --recursive /sys/fs/cgroup; mount -t cgroup2 none /sys/fs/cgroup
        PATH=$PATH:/usr/sbin ip link set lo up; exec "$@"' host "$@"
}

# Limits of the caller and not podman's own, which are higher than root may set on some machines; there, control groups
# have no controllers to limit memory with.
start() { # name, then arguments of podman run
    containers run --detach --replace --name "$1" --network=host --cgroups=disabled --health-interval=disable \
        --ulimit nofile=10256:10256 --ulimit nproc=4096:4096 "${@:2}" >/dev/null
}

# Makes a control group, of either version, with so many bytes of memory. Fails where there is none.
make_memory_group() {
    local root=$WORK/memory file
    mkdir -p "$root"
    mount -t cgroup -o memory none "$root" 2>/dev/null || mount -t cgroup2 none "$root" 2>/dev/null || return 1
    [ ! -e "$root/cgroup.subtree_control" ] || echo +memory >"$root/cgroup.subtree_control" || return 1
    mkdir -p "$root/store-directory" || return 1
    for file in "$root"/store-directory/memory.{limit_in_bytes,max}; do
        [ ! -e "$file" ] || echo "$1" >"$file" || return 1
    done
}

await() { # repeat a command until it succeeds, for a minute
    for _ in $(seq 600); do ! "$@" >/dev/null 2>&1 || return 0; sleep 0.1; done
    "$@"
}
