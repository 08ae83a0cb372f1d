import type { WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import { historyId, type Command, type Step } from '@stemma/history';
import type { Home } from '@stemma/home';
import { defined } from '@stemma/values';
import { stepsOfVectors } from '../record-vectors.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import type { LogosphereSession, SessionIntervention, SessionPosition, SessionRow } from './read-session.ts';
import { retold, stepOf } from './retell.ts';
import { keptOfRow, type RowFacts } from './session-lines.ts';

/** Who recorded what no actor did. */
const BY = { recorder: 'logosphere' } as const;
/** By which embedder the vectors of a session are. */
const SESSION_EMBEDDER = 'outside:logosphere';
/** Rounds without a message that are made up for, so that a round keeps its number. */
const MOST_EMPTY = 10_000;

/** What an import came to. */
export type ImportedSession = {
  readonly history: string;
  readonly rounds: number;
  readonly messages: number;
  readonly branches: number;
  /** Texts whose vectors are recorded. */
  readonly vectors: number;
  readonly events: number;
  readonly interventions: number;
};

/**
 * Records a session as a history that is a pool: each round a cycle with the samples of its minds, each branch a branch, messages from
 * outside and what else `interventions.jsonl` tells as interventions, its vectors as recorded ones (pool: Formats). The same session gives the same trees.
 *
 * @throws E_HISTORY_EXISTS, E_INPUT_TOO_LARGE, and what `submit` throws
 */
export const importSession = async (
  home: Pick<Home, 'submit'>,
  session: LogosphereSession,
  {
    name,
    source,
    signal,
  }: {
    readonly name: string;
    readonly source: { readonly format: string; readonly sha256: string };
    readonly signal?: AbortSignal;
  },
): Promise<ImportedSession> => {
  refuseEmptyRounds(session);
  const history = historyId(name, 'logosphere@2');
  let events = 0;
  const submit = async (
    command: Omit<Command, 'history'>,
  ): Promise<{ readonly seq: number; readonly branchId: number; readonly ids: readonly string[] }> => {
    signal?.throwIfAborted();
    const outcome = await home.submit({ ...command, history });
    events += outcome.events.length;
    const ids = outcome.events.flatMap((event) => (event.type === 'NodeInserted' ? [event.node.id] : []));
    return { seq: outcome.seq, branchId: outcome.branchId, ids };
  };
  const writers = new Map<string | null, BranchWriter>();
  const sizes = session.rows.map(({ sampled }) => sampled.length);
  const began = { seq: 0, branchId: 0 };
  await submit({
    id: 'logosphere.start',
    branchId: 0,
    by: BY,
    at_ns: 0n,
    steps: [{ op: 'start', name, thread: 'pre', source }],
  });
  const vectors = session.vectors ?? [];
  const config = {
    ...DEFAULT_SETTINGS,
    ...(vectors.length === 0 ? {} : { embedder: SESSION_EMBEDDER }),
    sample_size: Math.max(
      1,
      sizes.reduce((a, b) => Math.max(a, b), 0),
    ),
    logosphere: { ...session.kept, root: session.root, vectors: session.vectors !== null },
  };
  began.seq = (
    await submit({
      id: 'logosphere.configuration',
      branchId: 0,
      by: BY,
      steps: [{ op: 'config', set: config as unknown as WideJsonObject }],
    })
  ).seq;
  for (const [i, step] of stepsOfVectors(SESSION_EMBEDDER, vectors).entries())
    began.seq = (await submit({ id: `logosphere.vectors.${i}`, branchId: 0, by: BY, steps: [step] })).seq;
  const injections = new Map<number, SessionIntervention>();
  const told = new Map<string | null, SessionIntervention[]>();
  const injected = new Set(session.rows.flatMap((row) => (row.injected ? [row.vectorId] : [])));
  const branches = new Set<string | null>(session.branches.map((branch) => branch.name));
  for (const intervention of session.interventions) {
    const { type, content, branch } = intervention;
    const id = type === 'message_inject' ? content['vector_id'] : null;
    if (typeof id === 'number' && injected.has(id) && !injections.has(id)) injections.set(id, intervention);
    else {
      const on = branches.has(branch) ? branch : null;
      const others = told.get(on) ?? [];
      others.push(intervention);
      told.set(on, others);
    }
  }
  const rowsOf = Map.groupBy(session.rows, ({ branch }) => branch);
  const positionAt = (at: SessionPosition | null): BranchPosition | undefined => {
    if (at === null) return undefined;
    const branch = at.branch === session.root ? null : at.branch;
    for (let writer = writers.get(branch); writer !== undefined; writer = writer.parent) {
      const found = writer.positions.findLast(({ round }) => round <= at.round);
      if (found !== undefined) return { branchId: found.branchId ?? writer.branchId, seq: found.seq };
    }
    return undefined;
  };
  const context: WriterContext = { submit, injections, root: session.root, positionAt };
  let rounds = 0;
  const write = async (branch: string | null, writer: BranchWriter): Promise<void> => {
    writers.set(branch, writer);
    rounds += await writeBranch(context, writer, rowsOf.get(branch) ?? [], told.get(branch) ?? []);
  };
  await write(null, {
    branch: null,
    branchId: 0,
    round: 0,
    nodes: new Map(),
    positions: [{ round: 0, vectorId: -1, seq: began.seq }],
  });
  for (const { name: branch, branch: named, parent, round, parentVectorId, kept } of session.branches) {
    const from = writers.get(parent);
    if (from === undefined) throw fail('E_INTERNAL', `the branch ${branch} comes before its parent`);
    const first =
      parentVectorId === null ? (rowsOf.get(branch)?.[0]?.vectorId ?? Infinity) : parentVectorId + 1;
    // Where it left its parent: behind what was there of that round before its own first message.
    const at =
      from.positions.findLast(
        (position) => position.round < round || (position.round === round && position.vectorId < first),
      ) ?? from.positions[0];
    if (at === undefined) throw fail('E_INTERNAL', `the branch ${branch} starts nowhere`);
    const forked = await submit({
      id: `logosphere.fork.${branch}`,
      branchId: from.branchId,
      by: BY,
      steps: [{ op: 'fork', name: named, at: { branchId: at.branchId ?? from.branchId, seq: at.seq } }],
    });
    const { seq } = await submit({
      id: `logosphere.branch.${branch}`,
      branchId: forked.branchId,
      by: BY,
      steps: [{ op: 'config', set: { logosphere: kept } }],
    });
    const nodes = new Map([...from.nodes].filter(([vectorId]) => (from.seen?.get(vectorId) ?? 0) <= at.seq));
    await write(branch, {
      branch,
      branchId: forked.branchId,
      round: Math.min(at.round, round),
      nodes,
      parent: from,
      positions: [{ round: at.round, vectorId: at.vectorId, seq, branchId: forked.branchId }],
    });
  }
  return {
    history,
    rounds,
    messages: session.rows.length,
    branches: session.branches.length + 1,
    vectors: vectors.length,
    events,
    interventions: session.interventions.length,
  };
};

/** @throws E_INPUT_TOO_LARGE for a session that only announces rounds */
const refuseEmptyRounds = ({ rows, branches }: LogosphereSession): void => {
  const said = Map.groupBy(rows, (row) => row.branch);
  /** The last round of each branch. */
  const reached = new Map<string | null, number>();
  let empty = 0;
  for (const { name, parent, round } of [{ name: null, parent: null, round: 0 }, ...branches]) {
    const rounds = new Set((said.get(name) ?? []).map((row) => row.round));
    const start = Math.min(round, reached.get(parent) ?? 0);
    const last = [...rounds].reduce((a, b) => Math.max(a, b), start);
    reached.set(name, last);
    empty += Math.max(0, last - start - rounds.size);
  }
  if (empty > MOST_EMPTY)
    throw fail(
      'E_INPUT_TOO_LARGE',
      `${empty} rounds of the session have no message; ${MOST_EMPTY} may be so`,
    );
};

/** Who intervened where the session does not say. */
const UNKNOWN = 'unknown';

type WriterContext = {
  readonly submit: (
    command: Omit<Command, 'history'>,
  ) => Promise<{ readonly seq: number; readonly branchId: number; readonly ids: readonly string[] }>;
  readonly injections: ReadonlyMap<number, SessionIntervention>;
  readonly root: string | null;
  readonly positionAt: (at: SessionPosition | null) => BranchPosition | undefined;
};

type MessageNode = { readonly id: string; readonly text: string };

type BranchWriter = {
  readonly branch: string | null;
  readonly branchId: number;
  /** The branch that it started from. */
  readonly parent?: BranchWriter;
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
const writeBranch = async (
  context: WriterContext,
  writer: BranchWriter,
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
