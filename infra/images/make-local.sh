#!/usr/bin/env bash
# Makes the images of infra/compose.yaml where none can be pulled: a Debian from the mirror that apt is set up with, with the
# Java, PostgreSQL and Node.js that are needed, and the broker's jars of infra/kafka/pom.xml. Needs root, debootstrap, Maven,
# a Docker engine that answers, and an installed workspace. Arguments: a folder to work in.
#
# Makes stemma-local/kafka, stemma-local/postgres, stemma-local/node, and from the last one infra/images/Dockerfile: stemma-local/stemma.
set -euo pipefail
work=$1
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
root=$work/root
mkdir -p "$work"

mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2> /dev/null |
  sed -nE 's#^(URIs:|deb) +(\[[^]]*\] +)?(https?://[^ ]*/debian)/?( .*)?$#\3#p' | head -n 1 || true)
debootstrap --variant=minbase --include=openjdk-17-jre-headless,postgresql,ca-certificates \
  bookworm "$root" "${mirror:-http://deb.debian.org/debian}" > "$work/debootstrap.log" 2>&1 ||
  { tail -n 20 "$work/debootstrap.log" >&2; exit 1; }

version=$(sed -n '/<artifactId>kafka_/,/version/s#.*<version>\(.*\)</version>.*#\1#p' "$repository/infra/kafka/pom.xml")
libs=${STEMMA_CACHE:-$HOME/.cache/stemma}/kafka-$version
if [ ! -d "$libs" ]; then
  mvn -q -B -f "$repository/infra/kafka/pom.xml" \
    org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies "-DoutputDirectory=$libs.$$"
  mv "$libs.$$" "$libs" || rm -rf "$libs.$$"
fi
mkdir -p "$root/opt/kafka/libs" "$root/var/lib/kafka/data" "$root/var/lib/postgresql/data"
cp "$libs"/*.jar "$root/opt/kafka/libs/"
chown 1000:1000 "$root/var/lib/kafka/data"
chroot "$root" chown postgres:postgres /var/lib/postgresql/data

# Node.js of the workspace, with the npm of this machine: only the build of the image needs that.
install -m 755 "$repository/node_modules/node/bin/node" "$root/usr/local/bin/node"
npm=$(dirname "$(dirname "$(readlink -f "$(command -v npm)")")")
mkdir -p "$root/usr/local/lib/node_modules" "$root/home/node"
cp -rL "$npm" "$root/usr/local/lib/node_modules/npm"
ln -sf ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/local/bin/npx"
echo 'node:x:1000:1000::/home/node:/bin/bash' >> "$root/etc/passwd"
echo 'node:x:1000:' >> "$root/etc/group"
chown 1000:1000 "$root/home/node"
# Whom this machine trusts: its way out may have a certificate of its own.
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"

# vfs keeps a whole copy for every layer and every container: each image has what it runs, and no more.
java=(./usr/lib/jvm ./usr/share/java ./opt/kafka)
postgres=(./usr/lib/postgresql ./usr/lib/x86_64-linux-gnu/'libLLVM*' ./usr/lib/x86_64-linux-gnu/'libz3*' ./usr/share/postgresql)
node=(./usr/local ./home/node)
common=(./var/cache/'*' ./var/lib/apt/lists ./usr/share/doc ./usr/share/man ./usr/share/locale ./usr/share/i18n ./dev/'*' ./proc/'*' ./sys/'*')
import() {
  local name=$1
  shift
  local -a changes=()
  while [ "$1" != -- ]; do changes+=(--change "$1"); shift; done
  shift
  tar -C "$root" "${@/#/--exclude=}" "${common[@]/#/--exclude=}" -c . | docker import "${changes[@]}" - "$name" > /dev/null
}
path='PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
import stemma-local/kafka "ENV $path" 'USER 1000' -- "${postgres[@]}" "${node[@]}"
import stemma-local/postgres "ENV $path" 'USER postgres' -- "${java[@]}" "${node[@]}"
import stemma-local/node "ENV $path NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt" -- "${java[@]}" "${postgres[@]}"
rm -rf "$root"
DOCKER_BUILDKIT=0 docker build --network host --build-arg NODE_IMAGE=stemma-local/node \
  -f "$repository/infra/images/Dockerfile" -t stemma-local/stemma "$repository" > "$work/build.log" 2>&1 ||
  { tail -n 30 "$work/build.log" >&2; exit 1; }
