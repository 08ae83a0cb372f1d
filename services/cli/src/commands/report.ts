import type { RecordedRun } from '@stemma/analysis';
import { fail } from '@stemma/errors';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { ExperimentReport, ReportedBranch, ReportedText } from '@stemma/reports';
import { writeFile } from 'node:fs/promises';
import { askApart } from '../analyse/ask-apart.ts';
import { chanceIn, PERMUTATIONS } from '../analyse/chance.ts';
import type { CommandSpec, Context } from '../command.ts';
import { required, text } from '../options.ts';
import { shellQuoted } from '../shell-quoted.ts';
import { armNames, readArms } from '../verdict/read-arms.ts';

/** A map shows so many of the newest texts: the time grows with their square. */
const MOST_MAPPED = 1_500;

export const report: CommandSpec = {
  name: 'report',
  summary:
    'write the report of an experiment with two branches as one HTML file: figures, map, attractors, tests, interventions',
  arguments: [['<history>', 'a history, by id or name']],
  options: [
    ['--branches <a,b>', 'the two branches, by name or id'],
    ['-o, --output <file>', 'the file of the report (default: report.html)'],
    ['--runs <branches...>', 'branches that ran like A, for the verdict'],
    ['--runs-b <branches...>', 'branches that ran like B'],
    ['--permutations <number>', 'the random divisions of the verdict (default: 1999)'],
    ['--seed <number>', 'the seed of the random numbers (default: 0)'],
  ],
  run: async (context, [name], options) => {
    const history = required(name);
    const [a = '', b = '', ...more] = (text(options, 'branches') ?? '').split(',').map((each) => each.trim());
    if (a === '' || b === '' || more.length > 0) throw fail('E_USAGE', '--branches takes two branches: A,B');
    const file = text(options, 'output') ?? 'report.html';
    const { permutations, seed } = chanceIn(options);
    const named = armNames(a, b, options);
    const arms = await readArms(context, history, named);
    const home = await context.home();
    const { recordedArms } = await import('@stemma/experiments');
    const recorded = await recordedArms(home, arms);
    const verdict = await askApart(
      { kind: 'verdict', a: recorded.a, b: recorded.b, options: { permutations, seed } },
      context.signal,
    );
    const isPool = recorded.kind === 'pool';
    const [branchA, branchB] = [arms.a[0], arms.b[0]] as [BranchRef, BranchRef];
    const rest = [
      ...(named.a.length === 1 ? [] : ['--runs', ...named.a.slice(1)]),
      ...(named.b.length === 1 ? [] : ['--runs-b', ...named.b.slice(1)]),
      ...(permutations === PERMUTATIONS ? [] : ['--permutations', String(permutations)]),
      ...(seed === 0 ? [] : ['--seed', String(seed)]),
    ];
    const reportedA = await branchOf(home, a, branchA, isPool);
    const shared = isPool ? await sharedTexts(home, reportedA.texts, branchA, branchB) : [];
    const data: ExperimentReport = {
      history,
      a: reportedA,
      b: await branchOf(home, b, branchB, isPool),
      parted: (await home.branches.mergeBase(branchA, branchB)).cycle,
      verdict,
      ...(await mapOf(
        context,
        [...shared, ...textsOf(recorded.a[0], 'a'), ...textsOf(recorded.b[0], 'b')],
        seed,
      )),
      command: ['stemma', 'report', history, '--branches', `${a},${b}`, '-o', file, ...rest]
        .map(quoted)
        .join(' '),
    };
    const { experimentPage } = await import('@stemma/reports');
    await writeFile(file, experimentPage(data), { mode: 0o600 });
    context.output.say(`wrote ${file}`);
    await context.output.result({ file, verdict: verdict.verdict }, () => `${verdict.verdict}\n`);
    return undefined;
  },
};

/** An argument as a shell takes it. */
const quoted = (argument: string): string =>
  /^[A-Za-z0-9_@%+=:,./-]+$/.test(argument) ? argument : shellQuoted(argument);

const branchOf = async (
  home: Home,
  name: string,
  branchRef: BranchRef,
  isPool: boolean,
): Promise<ReportedBranch> => {
  const interventions: ReportedBranch['interventions'][number][] = [];
  for (let from: number | null = 0; from !== null;) {
    const found = await home.audit.interventions(branchRef, { branch: String(branchRef.branchId) }, { from });
    interventions.push(...found.interventions);
    from = found.next;
  }
  if (!isPool) return { name, snapshots: null, interventions, texts: new Map() };
  const { viewPool } = await import('@stemma/pools');
  const position = await home.position(branchRef);
  const { snapshots, now } = await home.pools.metrics(position);
  const { messages } = await viewPool(home, branchRef);
  return {
    name,
    snapshots: [...snapshots, { ...now, round: now.round + 1 }],
    interventions,
    texts: new Map(messages.map(({ id, text: content }) => [id, content])),
  };
};

type Mapped = Pick<ReportedText, 'look' | 'round' | 'text'> & { readonly vector: Float32Array };

/** The messages that both have. @param contents of A, by node */
const sharedTexts = async (
  home: Home,
  contents: ReportedBranch['texts'],
  a: BranchRef,
  b: BranchRef,
): Promise<readonly Mapped[]> => {
  const ofA = await home.pools.embedded(await home.position(a));
  const { messages: inB } = await home.pools.embedded(await home.position(b), ofA.embedder);
  const ofB = new Set(inB.map(({ node }) => node));
  return ofA.messages
    .filter(({ node }) => ofB.has(node))
    .map(({ node, round, vector }) => ({ look: 'shared', round, text: contents.get(node) ?? '', vector }));
};

const textsOf = (run: RecordedRun | undefined, look: 'a' | 'b'): readonly Mapped[] =>
  (run?.steps ?? []).flatMap(({ texts: said }) =>
    said.flatMap(({ text: content, vector }) =>
      vector === undefined ? [] : [{ look, round: null, text: content, vector }],
    ),
  );

const mapOf = async (
  { signal }: Context,
  all: readonly Mapped[],
  seed: number,
): Promise<Pick<ExperimentReport, 'map' | 'unmapped'>> => {
  const mapped = all.slice(-MOST_MAPPED);
  if (mapped.length === 0) return { map: [], unmapped: 0 };
  const layout = await askApart(
    { kind: 'layout', vectors: mapped.map(({ vector }) => vector), seed },
    signal,
  );
  return {
    map: mapped.map(({ vector: _vector, ...rest }, i) => ({
      ...rest,
      x: layout[i]?.[0] ?? 0,
      y: layout[i]?.[1] ?? 0,
    })),
    unmapped: all.length - mapped.length,
  };
};
