import { parseArgs } from 'node:util';

/** The packages that everything else relies on. */
const CORE = 'log,history,context-tree,history-store,row-store,row-store-lmdb,postgres,projector,queries';

export const HELP = `pnpm mutants [options]: changes the core in one spot at a time and lists the changes that no test notices

  --count <n>        the number of mutants (default 500)
  --seed <n>         which ones (default 1): the same seed and sources give the same
  --least <n>        the fewest of each package (default 8)
  --packages <list>  the packages (default ${CORE})
  --tiers <list>     the tiers of tests (default unit,int): int tries what unit did not notice
  --out <folder>     where journal and results are; a run that was stopped goes on (default node_modules/.cache/mutants)
  --again            tries anew what survived, with the tests of now
  --fresh            begins anew
  --verbose          shows what vitest writes
`;

export type Options = {
  readonly count: number;
  readonly seed: number;
  readonly least: number;
  readonly packages: readonly string[];
  readonly tiers: readonly string[];
  readonly out: string;
  readonly again: boolean;
  readonly fresh: boolean;
  readonly verbose: boolean;
  readonly help: boolean;
};

export const parseOptions = (args: readonly string[]): Options => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      count: { type: 'string', default: '500' },
      seed: { type: 'string', default: '1' },
      least: { type: 'string', default: '8' },
      packages: { type: 'string', default: CORE },
      tiers: { type: 'string', default: 'unit,int' },
      out: { type: 'string', default: 'node_modules/.cache/mutants' },
      again: { type: 'boolean', default: false },
      fresh: { type: 'boolean', default: false },
      verbose: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  const { count, seed, least, packages, tiers, ...more } = values;
  return {
    ...more,
    count: whole(count, 'count'),
    seed: whole(seed, 'seed'),
    least: whole(least, 'least'),
    packages: packages.split(','),
    tiers: tiers.split(','),
  };
};

const whole = (text: string, name: string): number => {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name} is a whole number, not ${JSON.stringify(text)}`);
  return Number(text);
};
