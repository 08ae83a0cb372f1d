import type { RecordedRun, RunVerdict } from '@stemma/analysis';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { viewPool } from '@stemma/pools';
import type { ExperimentReport, ReportedBranch, ReportedText } from '@stemma/reports';
import { recordedArms, type Arms } from './recorded-runs.ts';

/** A map shows so many of the newest texts: the time grows with their square. */
const MOST_MAPPED = 1_500;

/** What a report is made of. */
export type ReportQuestion = {
  /** What the report calls the history, and the first branch of each arm. */
  readonly names: { readonly history: string; readonly a: string; readonly b: string };
  readonly arms: Arms;
  /** What makes the report again. */
  readonly command: string;
};

/** What a report has computed: who asks decides where that is done. */
export type ReportComputations = {
  readonly verdict: (a: readonly RecordedRun[], b: readonly RecordedRun[]) => Promise<RunVerdict>;
  /** Places on a map, as many as vectors. */
  readonly layout: (vectors: readonly Float32Array[]) => Promise<readonly (readonly number[])[]>;
};

/**
 * What the report of an experiment shows: the verdict of its arms, and of the first branch of each figures and attractors over
 * rounds, interventions, and a map of what both said.
 *
 * @throws as {@link recordedArms}
 */
export const experimentReport = async (
  home: Home,
  { names, arms, command }: ReportQuestion,
  { verdict, layout }: ReportComputations,
): Promise<ExperimentReport> => {
  const recorded = await recordedArms(home, arms);
  const isPool = recorded.kind === 'pool';
  const [branchA, branchB] = [arms.a[0], arms.b[0]] as [BranchRef, BranchRef];
  const a = await branchOf(home, names.a, branchA, isPool);
  const shared = isPool ? await sharedTexts(home, a.texts, branchA, branchB) : [];
  return {
    history: names.history,
    a,
    b: await branchOf(home, names.b, branchB, isPool),
    parted: (await home.branches.mergeBase(branchA, branchB)).cycle,
    verdict: await verdict(recorded.a, recorded.b),
    ...(await mapOf([...shared, ...textsOf(recorded.a[0], 'a'), ...textsOf(recorded.b[0], 'b')], layout)),
    command,
  };
};

const branchOf = async (
  home: Home,
  name: string,
  branchRef: BranchRef,
  isPool: boolean,
): Promise<ReportedBranch> => {
  const interventions: ReportedBranch['interventions'][number][] = [];
  for (let from: number | null = 0; from !== null;) {
    const found = await home.queries.audit.interventions(
      branchRef,
      { branch: String(branchRef.branchId) },
      { from },
    );
    interventions.push(...found.interventions);
    from = found.next;
  }
  if (!isPool) return { name, snapshots: null, interventions, texts: new Map() };
  const { snapshots, now } = await home.queries.pools.metrics(await home.position(branchRef));
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
  const ofA = await home.queries.pools.embedded(await home.position(a));
  const { messages: inB } = await home.queries.pools.embedded(await home.position(b), ofA.embedder);
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
  all: readonly Mapped[],
  layout: ReportComputations['layout'],
): Promise<Pick<ExperimentReport, 'map' | 'unmapped'>> => {
  const mapped = all.slice(-MOST_MAPPED);
  if (mapped.length === 0) return { map: [], unmapped: 0 };
  const places = await layout(mapped.map(({ vector }) => vector));
  return {
    map: mapped.map(({ vector: _vector, ...rest }, i) => ({
      ...rest,
      x: places[i]?.[0] ?? 0,
      y: places[i]?.[1] ?? 0,
    })),
    unmapped: all.length - mapped.length,
  };
};
