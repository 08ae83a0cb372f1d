#!/usr/bin/env bash
# Starts PostgreSQL on a loopback address, in any image that has it (the official one, or a Debian with the package), not as
# root. Makes its folder and the database the first time. Whoever is on this machine may enter, as at the gateway.
set -euo pipefail
: "${PORT:=5432}" "${DATA:=/var/lib/postgresql/data/stemma}" "${DATABASE:=stemma}"
PATH=$PATH:$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | tail -n 1)
if [ ! -f "$DATA/made" ]; then
  rm -rf "$DATA"
  initdb -D "$DATA" -A trust -U stemma --locale=C --encoding=UTF8 > /dev/null
  [ "$DATABASE" = postgres ] || echo "CREATE DATABASE \"$DATABASE\";" | postgres --single -D "$DATA" postgres > /dev/null
  touch "$DATA/made"
fi
exec postgres -D "$DATA" -p "$PORT" -c listen_addresses=127.0.0.1 -c unix_socket_directories=/tmp
