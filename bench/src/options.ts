import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export const names = [
  'append',
  'replay',
  'growth',
  'histories',
  'calls',
  'causes',
  'questions',
  'checks',
  'stages',
  'branches',
  'kafka',
  'gateway',
  'import',
  'proxy',
  'savers',
  'rerun',
  'workspace',
  'selectors',
  'audit',
  'analysis',
  'rounds',
  'verdict',
  'search',
  'page',
  'scale',
] as const;
export type Name = (typeof names)[number];

export type Options = {
  readonly tables: readonly Name[];
  /** Small sizes, one round: to see that it runs. The figures mean nothing. */
  readonly quick: boolean;
  /** How often each measurement is repeated. */
  readonly rounds: number;
  /** The one row of a table to measure, where a table can measure its rows alone. */
  readonly only: string | undefined;
  /** One JSON document on stdout instead of tables. */
  readonly json: boolean;
  /** Puts the tables into docs/benchmarks.md. */
  readonly write: boolean;
  /** Where everything is written to, on the file system that is measured. */
  readonly scratch: string;
};

export const usage = `pnpm bench [${names.join('|')}] [--quick] [--rounds N] [--only ROW] [--json] [--write] [--scratch DIR]`;

/** What the command line asks for. @throws an Error with the usage. */
export const parseOptions = (args: readonly string[]): Options => {
  const { values, positionals } = parseArgs({
    args: args.filter((argument) => argument !== '--'),
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string', default: '3' },
      only: { type: 'string' },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      scratch: { type: 'string' },
    },
  });
  const tables = names.filter((name) => positionals.length === 0 || positionals.includes(name));
  const unknown = positionals.filter((name) => !names.some((known) => known === name));
  if (unknown.length > 0) throw new Error(`there is no benchmark ${unknown.join(', ')}\n${usage}`);
  const scratch = values.scratch ?? fileURLToPath(new URL('../node_modules/.cache/bench', import.meta.url));
  mkdirSync(scratch, { recursive: true });
  const rounds = values.quick ? 1 : Math.max(1, Number.parseInt(values.rounds, 10) || 3);
  const { quick, only, json, write } = values;
  if (only !== undefined && write) throw new Error(`--write puts down whole tables\n${usage}`);
  return { tables, quick, rounds, only, json, write, scratch };
};
