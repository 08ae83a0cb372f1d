#!/usr/bin/env bash
# Whether the service of this container is ready: at its own door, or at its status server. Needs nothing but bash, since a
# start of Node.js every few seconds would cost more than what it looks at.
set -euo pipefail
port=${STEMMA_STATUS_PORT:-${STEMMA_PORT:-7836}}
exec 3<> "/dev/tcp/127.0.0.1/$port"
printf 'GET /health/ready HTTP/1.1\r\nhost: 127.0.0.1:%s\r\nconnection: close\r\n\r\n' "$port" >&3
read -r _ status _ <&3
[ "$status" = 200 ]
