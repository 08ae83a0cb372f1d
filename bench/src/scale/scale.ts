import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { CpuTimes } from '../audit/cpu.ts';
import { probe } from '../probe.ts';
import { figure, type Aim, type BenchmarkOptions, type Report, type Table } from '../table.ts';
import type { AskInput, Best } from './ask-endpoints.ts';
import { isMeasured, type Asked, type Growth } from './asked.ts';
import { ENDPOINTS_ASKED } from './endpoints.ts';
import { commandsAsked } from './run-commands.ts';

/** Calls of a history that is small, and has one of everything: what it takes is the start. */
const EMPTY = 200;
const sizes = [500, 5_000, 50_000];

/** The largest exponents: of what is asked for whole, and of a page. */
const MOST: Readonly<Record<Growth, number>> = { whole: 1.15, page: 0.2 };

/** Milliseconds that a difference must have to be one. */
const NOISE = { endpoints: 5, commands: 500 } as const;

/** The most rounds of commands: each of them is a process, and most of its time is its start. */
const COMMAND_ROUNDS = 2;

type What = keyof typeof NOISE;
/** A line of a measurement that goes on. */
type Progress = {
  readonly what: 'endpoint' | 'command';
  readonly name: string;
  readonly calls: number;
} & CpuTimes;

type BySize = ReadonlyMap<number, Readonly<Record<string, Best>>>;

/** How the time grows from one size to a larger one: 1 is as the calls do, 0 not at all. The start is subtracted. */
const exponentBetween = (
  [smaller, larger]: readonly [number, number],
  cpuAt: (size: number) => number,
  noise: number,
): number => {
  const grown = (size: number): number => Math.max(noise, cpuAt(size) - cpuAt(EMPTY));
  return Math.log(grown(larger) / grown(smaller)) / Math.log(larger / smaller);
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
  const grown = measured.map(({ name, growth }) => ({
    ...{ name, growth },
    exponents: used
      .slice(1)
      .map((size, i) =>
        exponentBetween(
          [used[i] as number, size],
          (calls) => bySize.get(calls)?.[name]?.cpu ?? Number.NaN,
          NOISE[what],
        ),
      ),
  }));
  const worst = (growth: Growth) =>
    grown
      .filter((each) => each.growth === growth)
      .map(({ name, exponents }) => ({ name, exponent: exponents.at(-1) ?? Number.NaN }))
      .sort((a, b) => b.exponent - a.exponent)[0];
  const reasons = Object.entries(asked).flatMap(([name, each]) =>
    isMeasured(each) ? [] : [`${name}: ${each.reason}`],
  );
  return {
    table: {
      title: `Scale: ${what}, by the calls of a history`,
      columns: [
        what,
        'asked for',
        ...used.map((size) => `${figure(size)}, ms of CPU (wall)`),
        ...used.slice(1).map((size) => `exponent to ${figure(size)}`),
      ],
      rows: grown.map(({ name, growth, exponents }) => [
        name,
        growth === 'page' ? 'a page' : 'all',
        ...used.map((size) => {
          const best = bySize.get(size)?.[name];
          return `${figure(best?.cpu ?? Number.NaN)} (${figure(best?.wall ?? Number.NaN)})`;
        }),
        ...exponents.map((exponent) => exponent.toFixed(2)),
      ]),
      notes: [
        'The best of several rounds, at 50,000 calls of one for what is asked for whole; endpoints are warm, each command is a process of its own. CPU is that of all threads. Exponents are those of the CPU from the size before, less that of a history of 200 calls.',
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

/** Says on stderr what each row took as it ends, and how it has grown since the size before: all of them take long. */
const openProgress = (used: readonly number[]) => {
  const spent = new Map<string, number>();
  const before = new Map(used.map((size, i) => [size, used[i - 1]]));
  return (line: string): void => {
    const { what, name, calls, cpu, wall } = JSON.parse(line) as Progress;
    spent.set(`${what} ${name} ${calls}`, cpu);
    const at = (size: number): number => spent.get(`${what} ${name} ${size}`) ?? Number.NaN;
    const smaller = before.get(calls);
    const exponent =
      smaller === undefined
        ? ''
        : `, exponent ${exponentBetween([smaller, calls], at, NOISE[`${what}s`]).toFixed(2)}`;
    process.stderr.write(
      `${figure(calls)} calls, ${what} ${name}: ${figure(cpu)} ms of CPU (${figure(wall)})${exponent}\n`,
    );
  };
};

/** How every endpoint and command grows with the calls of a history. */
export const scale = async ({ directory, quick, rounds, only }: BenchmarkOptions): Promise<Report> => {
  const used = quick ? [400, 800] : sizes;
  const found: Record<What, Map<number, Readonly<Record<string, Best>>>> = {
    endpoints: new Map(),
    commands: new Map(),
  };
  const print = openProgress(used);
  const inputAt = (calls: number, most: number): AskInput => {
    const page = Math.min(rounds, most);
    // A second round of all that is asked for whole at the largest size takes as long as everything else.
    const whole = calls === sizes.at(-1) ? 1 : page;
    return { directory: join(directory, String(calls)), calls, rounds: { page, whole }, only };
  };
  for (const calls of [EMPTY, ...used]) {
    const input = inputAt(calls, rounds);
    await probe('scale/record', { directory: input.directory, calls });
    found.endpoints.set(calls, (await probe<Record<string, Best>>('scale/endpoints', input, print)).value);
  }
  for (const calls of [EMPTY, ...used]) {
    const input = inputAt(calls, COMMAND_ROUNDS);
    found.commands.set(calls, (await probe<Record<string, Best>>('scale/commands', input, print)).value);
    rmSync(input.directory, { recursive: true, force: true });
  }
  const parts = [
    tableOf('endpoints', ENDPOINTS_ASKED, found.endpoints, used),
    tableOf('commands', commandsAsked(), found.commands, used),
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
