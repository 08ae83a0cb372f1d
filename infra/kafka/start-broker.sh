#!/usr/bin/env bash
# Starts a broker that is its own controller, on loopback addresses unless told otherwise, in any image with Java and the jars of Kafka in
# /opt/kafka/libs (the official one has them there). Formats its folder the first time. Its settings are those of
# docs/running.md#on-kafka.
set -euo pipefail
: "${NODE:=1}" "${NODES:=1}" "${PORT:=9092}" "${CONTROLLER_PORT:=9093}" "${DATA:=/var/lib/kafka/data}"
: "${LISTEN:=127.0.0.1}" "${ADVERTISED_PORT:=$PORT}"
: "${CLUSTER:=c3RlbW1hLXN0ZW1tYS0wMQ}" "${HEAP:=512m}"
# All controllers of the cluster; one port behind the other unless said.
: "${VOTERS:=1@127.0.0.1:$CONTROLLER_PORT}"
copies=$((NODES < 3 ? NODES : 3))
properties=/tmp/server.properties
cat > "$properties" << PROPERTIES
process.roles=broker,controller
node.id=$NODE
listeners=PLAINTEXT://$LISTEN:$PORT,CONTROLLER://127.0.0.1:$CONTROLLER_PORT
advertised.listeners=PLAINTEXT://127.0.0.1:$ADVERTISED_PORT
controller.listener.names=CONTROLLER
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT
controller.quorum.voters=$VOTERS
log.dirs=$DATA
default.replication.factor=$copies
min.insync.replicas=$((copies > 1 ? copies - 1 : 1))
unclean.leader.election.enable=false
offsets.topic.replication.factor=$copies
transaction.state.log.replication.factor=$copies
transaction.state.log.min.isr=$((copies > 1 ? copies - 1 : 1))
offsets.topic.num.partitions=1
transaction.state.log.num.partitions=1
group.initial.rebalance.delay.ms=0
auto.create.topics.enable=false
PROPERTIES
java -cp '/opt/kafka/libs/*' kafka.tools.StorageTool format --ignore-formatted -t "$CLUSTER" -c "$properties"
exec java "-Xmx$HEAP" -XX:+UseSerialGC -cp '/opt/kafka/libs/*' kafka.Kafka "$properties"
