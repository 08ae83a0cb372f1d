import type { WideJsonObject } from '@stemma/canonical';
import type { BranchPosition } from '@stemma/events';
import type { Command, Step } from '@stemma/history';
import { defined } from '@stemma/values';
import type { SessionIntervention, SessionPosition, SessionRow } from './read-session.ts';
import { retold, stepOf } from './retell.ts';
import { keptOfRow, type RowFacts } from './session-lines.ts';

/** Who recorded what no actor did. */
export const BY = { recorder: 'logosphere' } as const;

/** What a command came to. */
export type SubmittedFrame = {
  readonly seq: number;
  readonly branchId: number;
  /** Of the nodes that it inserted. */
  readonly ids: readonly string[];
};

/** Who intervened where the session does not say. */
const UNKNOWN = 'unknown';

/** What writing the branches of a session needs. */
export type WriterContext = {
  readonly submit: (command: Omit<Command, 'history'>) => Promise<SubmittedFrame>;
  readonly injections: ReadonlyMap<number, SessionIntervention>;
  readonly root: string | null;
  readonly positionAt: (at: SessionPosition | null) => BranchPosition | undefined;
};

type MessageNode = { readonly id: string; readonly text: string };

/** How far a branch is written. */
export type WrittenBranch = {
  readonly branch: string | null;
  readonly branchId: number;
  /** The branch that it started from. */
  readonly parent?: WrittenBranch;
  /** The newest round that is committed. */
  round: number;
  /** The nodes of the messages that it has, by vector id. */
  readonly nodes: Map<number, MessageNode>;
  /** The frame that each message came with. */
  seen?: Map<number, number>;
  /** The positions that others may start from, the oldest first. */
  readonly positions: {
    readonly round: number;
    readonly vectorId: number;
    readonly seq: number;
    readonly branchId?: number;
  }[];
};

/** Writes the rounds of a branch. @returns how many there are */
export const writeBranch = async (
  context: WriterContext,
  writer: WrittenBranch,
  rows: readonly SessionRow[],
  told: readonly SessionIntervention[],
): Promise<number> => {
  const { submit, injections } = context;
  const { branch, branchId, nodes, positions } = writer;
  writer.seen = new Map();
  const prefix = `logosphere.${branch ?? ''}`;
  const began = writer.round;
  const rounds = Map.groupBy(rows, ({ round }) => round);
  const keptOf = (row: SessionRow, shownTo: ReadonlyMap<number, readonly number[]>): WideJsonObject | null =>
    keptOfRow(factsOf(row, context.root, shownTo), row.given, row.line).kept;
  const ofRows = new Set(rows.map(({ vectorId }) => vectorId));
  /** Those that are about a message of the branch, which stand behind it, and the others by the round that they stand behind. */
  const aboutRow = (one: SessionIntervention): number | null => {
    const id = one.type === 'message_inject' ? one.content['vector_id'] : null;
    return typeof id === 'number' && ofRows.has(id) ? id : null;
  };
  const aboutRows = Map.groupBy(told, aboutRow);
  const stands = ({ after }: SessionIntervention): number => after?.round ?? Infinity;
  const waiting = (aboutRows.get(null) ?? []).toSorted((a, b) =>
    stands(a) < stands(b) ? -1 : Number(stands(a) > stands(b)),
  );
  let next = 0;
  const tell = async (one: SessionIntervention, around: Partial<Around> = {}): Promise<void> => {
    const since = around.since ?? context.positionAt(one.before);
    const until = around.until ?? context.positionAt(one.after);
    await submit({
      id: `logosphere.told.${one.place}`,
      branchId,
      by: { actor: one.actor ?? UNKNOWN },
      notes: one.notes,
      steps: [stepOf(one, { ...(since && { since }), ...(until && { until }) })],
    });
  };
  const tellUpTo = async (round: number): Promise<void> => {
    for (let one = waiting[next]; one !== undefined && stands(one) <= round; one = waiting[++next])
      await tell(one);
  };
  for (const round of [...rounds.keys()].sort((a, b) => a - b)) {
    const said = rounds.get(round) ?? [];
    const shownTo = new Map<number, readonly number[]>();
    while (writer.round < round) {
      await tellUpTo(writer.round);
      writer.round++;
      const shown = writer.round === round ? samplesOf(said, nodes, shownTo) : [];
      const { seq } = await submit({
        id: `${prefix}.round.${writer.round}`,
        branchId,
        by: BY,
        at_ns: 0n,
        steps: [...shown, { op: 'commit' }],
      });
      positions.push({ round: writer.round, vectorId: -1, seq });
    }
    for (let i = 0; i < said.length;) {
      const row = said[i] as SessionRow;
      const end = row.injected ? i + 1 : said.findIndex((other, j) => j >= i && other.injected);
      const group = said.slice(i, end === -1 ? said.length : end);
      const since = positions.at(-1);
      const { seq, ids } = row.injected
        ? await submit(injection(row, branchId, injections.get(row.vectorId), keptOf(row, shownTo)))
        : await submit({
            id: `${prefix}.messages.${row.vectorId}`,
            branchId,
            by: BY,
            steps: group.map((one) => message(one, keptOf(one, shownTo))),
          });
      for (const [j, { vectorId, text }] of group.entries()) {
        nodes.set(vectorId, { id: ids[j] as string, text });
        writer.seen.set(vectorId, seq);
      }
      positions.push({ round, vectorId: group.at(-1)?.vectorId ?? -1, seq });
      for (const one of group.flatMap(({ vectorId }) => aboutRows.get(vectorId) ?? []))
        await tell(one, {
          until: { branchId, seq },
          ...(since && { since: { branchId: since.branchId ?? branchId, seq: since.seq } }),
        });
      i += group.length;
    }
  }
  await tellUpTo(Infinity);
  return writer.round - began;
};

/** What to keep of the line of a message beside what its node and samples say. */
const factsOf = (
  row: SessionRow,
  root: string | null,
  shownTo: ReadonlyMap<number, readonly number[]>,
): RowFacts => ({
  ...row,
  branch: row.branch ?? root,
  mindId: row.injected ? -1 : row.mindId,
  sampled: row.injected || row.mindId < 0 ? [] : (shownTo.get(row.mindId) ?? []),
});

type Around = { readonly since: BranchPosition; readonly until: BranchPosition };

/** What the minds of a round were shown, as far as the messages are there; `shownTo` is told their vector ids. */
const samplesOf = (
  rows: readonly SessionRow[],
  nodes: ReadonlyMap<number, MessageNode>,
  shownTo: Map<number, readonly number[]>,
): readonly Step[] => {
  const byMind = new Map<number, readonly number[]>();
  for (const { mindId, sampled } of rows)
    if (sampled.length > 0 && !byMind.has(mindId)) byMind.set(mindId, sampled);
  return [...byMind].flatMap(([mindId, sampled]) => {
    shownTo.set(
      mindId,
      sampled.filter((vectorId) => nodes.has(vectorId)),
    );
    const shown = sampled.flatMap((vectorId) => nodes.get(vectorId) ?? []);
    const round = rows[0]?.round ?? 0;
    return [
      block({
        role: 'system',
        kind: 'prompt',
        content: '',
        data_round: round,
        data_mind_id: mindId,
        data_sampled_ids: shown.map(({ id }) => id),
      }),
      ...shown.map(({ id, text }) =>
        block({ role: 'user', kind: 'sample', refs: [id], content: text, data_mind_id: mindId }),
      ),
    ];
  });
};

const block = (node: WideJsonObject): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { nodeType: 'cb', offset: -1, ttl: 1, ...node },
  // Only messages have a time in a session: each other node is right behind what is there.
  at_ns: 0n,
});

const message = ({ round, mindId, vectorId, at, text }: SessionRow, kept: WideJsonObject | null): Step => ({
  op: 'insert',
  parent: '^ah',
  node: {
    nodeType: 'cb',
    offset: 0,
    role: mindId < 0 ? 'user' : 'assistant',
    kind: 'text',
    content: text,
    data_vector_id: vectorId,
    data_round: round,
    data_mind_id: mindId,
    data_source: mindId < 0 ? 'seed' : 'mind',
    ...defined({ data_row: kept ?? undefined }),
  },
  at_ns: at,
});

const injection = (
  { vectorId, text, at }: SessionRow,
  branchId: number,
  intervention: SessionIntervention | undefined,
  kept: WideJsonObject | null,
): Omit<Command, 'history'> => {
  const source = intervention?.content['source'];
  return {
    id: `logosphere.inject.${vectorId}`,
    branchId,
    by: { actor: intervention?.actor ?? UNKNOWN },
    notes: intervention?.notes ?? '',
    at_ns: at,
    steps: [
      {
        op: 'inject',
        text,
        role: 'user',
        vector_id: vectorId,
        ...(typeof source === 'string' ? { source } : {}),
        retold: retold(intervention, kept),
      },
    ],
  };
};
