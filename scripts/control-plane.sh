#!/bin/sh
# Builds what tests/cluster runs for real: etcd, Kubernetes and Kueue, from the modules that each line in
# tests/cluster/lines names. `build` does so unless it is there already; `where LINE` prints its folder.
#
# A folder in the cache belongs to the exact sources (its name has their hash) and is moved into place when complete.
# Go keeps what it compiled in a cache of its own, so a line after the first, or a newer patch release, costs much less.
set -eu
cd "$(dirname "$0")/.."

PATH=$PATH:/usr/local/go/bin  # where Go's own archive is unpacked
lines=tests/cluster/lines
cache=${XDG_CACHE_HOME:-$HOME/.cache}/gpu-quota-bot/control-plane

where() { echo "$cache/$1-$(cd "$lines/$1" && cat go.mod go.sum ./*.go | sha256sum | cut -c 1-12)"; }

build() {
    line=$1 target=$(where "$1")
    if [ -d "$target" ]; then echo "$line: built already, in $target" >&2; return; fi
    command -v go >/dev/null || { echo "$line: not built, and there is no go on the PATH to build it with" >&2; return 1; }
    mkdir -p "$cache"
    new=$(mktemp -d "$cache/.new-XXXXXX")
    trap 'chmod -R u+w "$new"; rm -rf "$new"' EXIT
    (
        cd "$lines/$line"
        version=$(go list -m -f '{{.Version}}' k8s.io/kubernetes)
        minor=${version#v1.}
        minor=${minor%%.*}
        stamp=k8s.io/component-base/version
        flags="-s -w -X $stamp.gitVersion=$version -X $stamp.gitMajor=1 -X $stamp.gitMinor=$minor"
        for program in .=control-plane sigs.k8s.io/kueue/cmd/kueue=kueue; do
            began=$(date +%s)
            go build ${GO_BUILD_FLAGS:-} -trimpath -ldflags "$flags" -o "$new/${program#*=}" "${program%=*}" </dev/null
            echo "$line: ${program#*=} built in $(($(date +%s) - began)) s" >&2
        done
        cp -R "$(go list -m -f '{{.Dir}}' sigs.k8s.io/kueue)/config/components" "$new/kueue-components"
        chmod -R u+w "$new"
        go list -m -f '{{.Path}} {{.Version}}' k8s.io/kubernetes sigs.k8s.io/kueue go.etcd.io/etcd/server/v3 >"$new/versions"
    )
    mv "$new" "$target"
    trap - EXIT
}

case ${1:-} in
build) for line in "$lines"/*/; do build "$(basename "$line")"; done ;;
where) where "$2" ;;
*) echo "usage: $0 build | where LINE" >&2; exit 2 ;;
esac
