import { fail } from '@stemma/errors';
import { cluster } from '../analyse/cluster.ts';
import { compareFiles } from '../analyse/compare.ts';
import { map } from '../analyse/map.ts';
import type { TopCommand } from '../command.ts';

export const analyse: TopCommand = {
  name: 'analyse',
  summary: 'find clusters, test differences and draw maps: of files with vectors or texts',
  group: 'Ask why',
  place: 15,
  example: 'stemma analyse compare before.jsonl after.jsonl',
  arguments: [],
  options: [],
  subcommands: [cluster, compareFiles, map],
  run: () => {
    throw fail('E_USAGE', 'the subcommand is missing: give cluster, compare or map');
  },
};
