import type { TopCommand } from '../command.ts';
import { poolAttractors, poolCompare } from '../pool/analyse.ts';
import { poolEmbed } from '../pool/embed.ts';
import { poolInit } from '../pool/init.ts';
import { POOL_ARGUMENTS, poolMessages, poolSearch, poolStatus } from '../pool/messages.ts';
import { poolMetrics } from '../pool/metrics.ts';

export const pool: TopCommand = {
  name: 'pool',
  summary: 'show how far a pool is; `pool init` starts one, `pool messages` and `pool search` list it',
  group: 'Run a pool of messages',
  example: 'stemma pool init sea --messages seeds.txt',
  arguments: POOL_ARGUMENTS,
  options: [],
  subcommands: [poolInit, poolEmbed, poolMessages, poolSearch, poolMetrics, poolAttractors, poolCompare],
  run: poolStatus,
};
