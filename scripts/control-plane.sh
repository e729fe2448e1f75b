#!/bin/sh
# Builds what tests/cluster runs for real: etcd, Kubernetes and Kueue, from the modules that each line in
# tests/cluster/lines names. `build` does so unless it is there already; `where LINE` prints its folder.
#
# A folder in the cache belongs to the exact sources (its name has their hash) and is moved into place when complete.
# Go keeps what it compiled in a cache of its own, so a line after the first, or a newer patch release, costs much less.
#
# A line with a file kubernetes-of is built from Kueue only, and runs on the Kubernetes of the first folder that the file
# names and that is built: another line's, or one that has no Kueue (kubernetes-*). Such lines come after the others, and
# Kubernetes without Kueue last. All of these may be missing: when LINES_SECONDS have passed since the start, or one cannot
# be built, that is said and the rest goes on. These are 35 minutes, but 5 in CI when the newest line was there already:
# such a run is to be short. The tests say which lines they ran on.
set -eu
cd "$(dirname "$0")/.."

PATH=$PATH:/usr/local/go/bin  # where Go's own archive is unpacked
lines=tests/cluster/lines
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpu-quota-bot/control-plane
began=$(date +%s)
seconds=2100

where() {
    hash=$(cd "$lines/$1" && cat go.mod go.sum $(ls ./*.go 2>/dev/null || :) | sha256sum | cut -c 1-12)
    echo "$cache/$1-$hash"
}

build() {
    line=$1 target=$(where "$1")
    if [ -d "$target" ]; then echo "$line: built already, in $target" >&2; return; fi
    command -v go >/dev/null || { echo "$line: not built, and there is no go on the PATH to build it with" >&2; return 1; }
    mkdir -p "$cache"
    new=$(mktemp -d "$cache/.new-XXXXXX")
    trap 'chmod -R u+w "$new"; rm -rf "$new"' EXIT
    trap 'exit 1' TERM INT
    (
        cd "$lines/$line"
        base=$(go list -m -f '{{.Version}}' k8s.io/component-base)  # v0.36.3, of Kubernetes v1.36.3
        minor=${base#v0.}
        stamp=k8s.io/component-base/version
        flags="-s -w -X $stamp.gitVersion=v1.$minor -X $stamp.gitMajor=1 -X $stamp.gitMinor=${minor%%.*}"
        modules=
        if [ ! -f kubernetes-of ]; then
            modules="k8s.io/kubernetes go.etcd.io/etcd/server/v3"
            program control-plane .
        fi
        case $line in kueue-*)
            modules="$modules sigs.k8s.io/kueue"
            program kueue sigs.k8s.io/kueue/cmd/kueue
            cp -R "$(go list -m -f '{{.Dir}}' sigs.k8s.io/kueue)/config/components" "$new/kueue-components"
            chmod -R u+w "$new"
        esac
        # shellcheck disable=SC2086
        go list -m -f '{{.Path}} {{.Version}}' $modules >"$new/versions"
    )
    mv "$new" "$target"
    trap - EXIT
}

program() { # NAME PACKAGE
    now=$(date +%s)
    go build ${GO_BUILD_FLAGS:-} -trimpath -ldflags "$flags" -o "$new/$1" "$2" </dev/null
    echo "$line: $1 built in $(($(date +%s) - now)) s" >&2
}

# In a process of its own, so that the time is kept for whatever it starts.
build_if_time_allows() { # LINE SECONDS_AT_LEAST WHAT_THEN
    if [ -d "$(where "$1")" ]; then build "$1"; return; fi
    left=$((${LINES_SECONDS:-$seconds} - $(date +%s) + began))
    echo "$1: may take $left s, needs $2" >&2
    if [ "$left" -ge "$2" ] && timeout "$left" "$0" line "$1"; then return; fi
    echo "$1: NOT BUILT, for want of time or as said above; $3" >&2
}

users() { grep -lw "$1" "$lines"/*/kubernetes-of | xargs -n 1 dirname | xargs -n 1 basename | paste -sd ' '; }

all() {
    for line in "$lines"/kueue-*/; do [ -f "$line/kubernetes-of" ] || build "$(basename "$line")"; done
    if [ "${CI:-}" = true ] && [ "$(($(date +%s) - began))" -lt 10 ]; then seconds=300; fi  # nothing was built
    for line in "$lines"/kueue-*/; do
        [ ! -f "$line/kubernetes-of" ] || build_if_time_allows "$(basename "$line")" 1 "its tests will not run"
    done
    for line in "$lines"/kubernetes-*/; do  # not begun in vain: on two cores it takes 7 to 10 minutes
        build_if_time_allows "$(basename "$line")" 600 "$(users "$(basename "$line")") will run on another Kubernetes"
    done
}

case ${1:-} in
build) all ;;
line) build "$2" ;;
where) where "$2" ;;
*) echo "usage: $0 build | line LINE | where LINE" >&2; exit 2 ;;
esac
