import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { probe } from '../probe.ts';
import { figure, type Aim, type BenchmarkOptions, type Report, type Table } from '../table.ts';
import type { AskInput, Best } from './ask-endpoints.ts';
import { isMeasured, type Asked, type Growth } from './asked.ts';
import { COMMANDS_ASKED } from './commands.ts';
import { ENDPOINTS_ASKED } from './endpoints.ts';

/** Calls of a history that is small, and has one of everything: what it takes is the start. */
const EMPTY = 200;
const sizes = [500, 5_000, 50_000];

/** The largest exponents: of what is asked for whole, and of a page. */
const MOST: Readonly<Record<Growth, number>> = { whole: 1.15, page: 0.2 };

/** Milliseconds that a difference must have to be one. */
const NOISE = { endpoints: 5, commands: 100 } as const;

type What = keyof typeof NOISE;
type BySize = ReadonlyMap<number, Readonly<Record<string, Best>>>;

/** How the time grows from the middle size to the largest: 1 is as the calls do, 0 not at all. The start is subtracted. */
const exponentOf = (bySize: BySize, name: string, used: readonly number[], noise: number): number => {
  const cpuAt = (size: number | undefined): number => bySize.get(size ?? EMPTY)?.[name]?.cpu ?? Number.NaN;
  const [smaller, larger] = [used.at(-2), used.at(-1)];
  const grown = (size: number | undefined): number => Math.max(noise, cpuAt(size) - cpuAt(EMPTY));
  return Math.log(grown(larger) / grown(smaller)) / Math.log((larger ?? 1) / (smaller ?? 1));
};

const tableOf = (
  what: What,
  asked: Readonly<Record<string, Asked<unknown>>>,
  bySize: BySize,
  used: readonly number[],
): { readonly table: Table; readonly aims: readonly Aim[] } => {
  const measured = Object.entries(asked).flatMap(([name, each]) =>
    isMeasured(each) && bySize.get(EMPTY)?.[name] !== undefined ? [{ name, growth: each.growth }] : [],
  );
  const exponents = measured.map(({ name, growth }) => ({
    ...{ name, growth },
    exponent: exponentOf(bySize, name, used, NOISE[what]),
  }));
  const worst = (growth: Growth) =>
    exponents.filter((each) => each.growth === growth).sort((a, b) => b.exponent - a.exponent)[0];
  const reasons = Object.entries(asked).flatMap(([name, each]) =>
    isMeasured(each) ? [] : [`${name}: ${each.reason}`],
  );
  return {
    table: {
      title: `Scale: ${what}, by the calls of a history`,
      columns: [what, 'asked for', ...used.map((size) => `${figure(size)}, ms of CPU (wall)`), 'exponent'],
      rows: exponents.map(({ name, growth, exponent }) => [
        name,
        growth === 'page' ? 'a page' : 'all',
        ...used.map((size) => {
          const best = bySize.get(size)?.[name];
          return `${figure(best?.cpu ?? Number.NaN)} (${figure(best?.wall ?? Number.NaN)})`;
        }),
        exponent.toFixed(2),
      ]),
      notes: [
        'The best of several rounds, warm; CPU is that of all threads. The exponent is that of the CPU from the middle size to the largest, less that of a history of 200 calls.',
        `Not measured: ${reasons.join('; ')}.`,
      ],
    },
    aims: (['whole', 'page'] as const).flatMap((growth) => {
      const found = worst(growth);
      return found === undefined
        ? []
        : [
            {
              what: `${what}: largest exponent of ${growth === 'page' ? 'a page' : 'all'}`,
              aim: `≤ ${MOST[growth]}`,
              measured: `${found.exponent.toFixed(2)} (${found.name})`,
              met: found.exponent <= MOST[growth],
            },
          ];
    }),
  };
};

/** How every endpoint and command grows with the calls of a history. */
export const scale = async ({ directory, quick, rounds, only }: BenchmarkOptions): Promise<Report> => {
  const used = quick ? [400, 800] : sizes;
  const found: Record<What, Map<number, Readonly<Record<string, Best>>>> = {
    endpoints: new Map(),
    commands: new Map(),
  };
  for (const calls of [EMPTY, ...used]) {
    const where = join(directory, String(calls));
    await probe('scale/record', { directory: where, calls });
    const input: AskInput = { directory: where, calls, rounds, only };
    // The endpoint `load` goes back to an earlier call.
    found.commands.set(calls, (await probe<Record<string, Best>>('scale/commands', input)).value);
    found.endpoints.set(calls, (await probe<Record<string, Best>>('scale/endpoints', input)).value);
    rmSync(where, { recursive: true, force: true });
  }
  const parts = [
    tableOf('endpoints', ENDPOINTS_ASKED, found.endpoints, used),
    tableOf('commands', COMMANDS_ASKED, found.commands, used),
  ];
  return {
    name: 'scale',
    tables: parts.map(({ table }) => table),
    aims: quick ? [] : parts.flatMap(({ aims }) => aims),
    figures: {
      endpoints: Object.fromEntries(found.endpoints),
      commands: Object.fromEntries(found.commands),
    },
  };
};
