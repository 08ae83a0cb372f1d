import type { WideJsonObject } from '@stemma/canonical';
import { fail } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import { historyId, type Command } from '@stemma/history';
import type { Home } from '@stemma/home';
import { stepsOfVectors } from '../record-vectors.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import type { LogosphereSession, SessionIntervention, SessionPosition } from './read-session.ts';
import {
  BY,
  writeBranch,
  type WrittenBranch,
  type SubmittedFrame,
  type WriterContext,
} from './write-branch.ts';

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
  options: ImportOptions,
): Promise<ImportedSession> => {
  refuseEmptyRounds(session);
  const recording = new SessionRecording(home, session, options);
  const seq = await recording.start();
  await recording.writeMain(seq);
  for (const branch of session.branches) await recording.writeFork(branch);
  return recording.imported();
};

type ImportOptions = {
  readonly name: string;
  readonly source: { readonly format: string; readonly sha256: string };
  readonly signal?: AbortSignal;
};

/** Records a session, one command after the other. */
class SessionRecording {
  readonly #home: Pick<Home, 'submit'>;
  readonly #session: LogosphereSession;
  readonly #options: ImportOptions;
  readonly #history: string;
  readonly #writers = new Map<string | null, WrittenBranch>();
  readonly #rows: ReadonlyMap<string | null, LogosphereSession['rows']>;
  /** What is recorded of interventions beside messages, by branch. */
  readonly #told: ReadonlyMap<string | null, readonly SessionIntervention[]>;
  readonly #context: WriterContext;
  #rounds = 0;
  #events = 0;

  constructor(home: Pick<Home, 'submit'>, session: LogosphereSession, options: ImportOptions) {
    this.#home = home;
    this.#session = session;
    this.#options = options;
    this.#history = historyId(options.name, 'logosphere@2');
    this.#rows = Map.groupBy(session.rows, ({ branch }) => branch);
    const { injections, told } = interventionsOf(session);
    this.#told = told;
    this.#context = {
      submit: (command) => this.#submit(command),
      injections,
      root: session.root,
      positionAt: (at) => this.#positionAt(at),
    };
  }

  /** Starts the history, with its configuration and vectors. @returns its newest frame */
  async start(): Promise<number> {
    const { name, source } = this.#options;
    const vectors = this.#session.vectors ?? [];
    await this.#submit({
      id: 'logosphere.start',
      branchId: 0,
      by: BY,
      at_ns: 0n,
      steps: [{ op: 'start', name, thread: 'pre', source }],
    });
    let { seq } = await this.#submit({
      id: 'logosphere.configuration',
      branchId: 0,
      by: BY,
      steps: [{ op: 'config', set: configOf(this.#session) }],
    });
    for (const [i, step] of stepsOfVectors(SESSION_EMBEDDER, vectors).entries())
      ({ seq } = await this.#submit({ id: `logosphere.vectors.${i}`, branchId: 0, by: BY, steps: [step] }));
    return seq;
  }

  /** @param seq the frame that it begins after */
  writeMain(seq: number): Promise<void> {
    return this.#write(null, {
      branch: null,
      branchId: 0,
      round: 0,
      nodes: new Map(),
      positions: [{ round: 0, vectorId: -1, seq }],
    });
  }

  async writeFork({
    name: branch,
    branch: named,
    parent,
    round,
    parentVectorId,
    kept,
  }: LogosphereSession['branches'][number]): Promise<void> {
    const from = this.#writers.get(parent);
    if (from === undefined) throw fail('E_INTERNAL', `the branch ${branch} comes before its parent`);
    const first =
      parentVectorId === null ? (this.#rows.get(branch)?.[0]?.vectorId ?? Infinity) : parentVectorId + 1;
    // Where it left its parent: behind what was there of that round before its own first message.
    const at =
      from.positions.findLast(
        (position) => position.round < round || (position.round === round && position.vectorId < first),
      ) ?? from.positions[0];
    if (at === undefined) throw fail('E_INTERNAL', `the branch ${branch} starts nowhere`);
    const forked = await this.#submit({
      id: `logosphere.fork.${branch}`,
      branchId: from.branchId,
      by: BY,
      steps: [{ op: 'fork', name: named, at: { branchId: at.branchId ?? from.branchId, seq: at.seq } }],
    });
    const { seq } = await this.#submit({
      id: `logosphere.branch.${branch}`,
      branchId: forked.branchId,
      by: BY,
      steps: [{ op: 'config', set: { logosphere: kept } }],
    });
    const nodes = new Map([...from.nodes].filter(([vectorId]) => (from.seen?.get(vectorId) ?? 0) <= at.seq));
    await this.#write(branch, {
      branch,
      branchId: forked.branchId,
      round: Math.min(at.round, round),
      nodes,
      parent: from,
      positions: [{ round: at.round, vectorId: at.vectorId, seq, branchId: forked.branchId }],
    });
  }

  imported(): ImportedSession {
    const { rows, branches, vectors, interventions } = this.#session;
    return {
      history: this.#history,
      rounds: this.#rounds,
      messages: rows.length,
      branches: branches.length + 1,
      vectors: vectors?.length ?? 0,
      events: this.#events,
      interventions: interventions.length,
    };
  }

  async #submit(command: Omit<Command, 'history'>): Promise<SubmittedFrame> {
    this.#options.signal?.throwIfAborted();
    const outcome = await this.#home.submit({ ...command, history: this.#history });
    this.#events += outcome.events.length;
    const ids = outcome.events.flatMap((event) => (event.type === 'NodeInserted' ? [event.node.id] : []));
    return { seq: outcome.seq, branchId: outcome.branchId, ids };
  }

  async #write(branch: string | null, writer: WrittenBranch): Promise<void> {
    this.#writers.set(branch, writer);
    const [rows, told] = [this.#rows.get(branch) ?? [], this.#told.get(branch) ?? []];
    this.#rounds += await writeBranch(this.#context, writer, rows, told);
  }

  #positionAt(at: SessionPosition | null): BranchPosition | undefined {
    if (at === null) return undefined;
    const branch = at.branch === this.#session.root ? null : at.branch;
    for (let writer = this.#writers.get(branch); writer !== undefined; writer = writer.parent) {
      const found = writer.positions.findLast(({ round }) => round <= at.round);
      if (found !== undefined) return { branchId: found.branchId ?? writer.branchId, seq: found.seq };
    }
    return undefined;
  }
}

/** The configuration of a pool that is a session. */
const configOf = ({ rows, vectors, kept, root }: LogosphereSession): WideJsonObject => {
  const sizes = rows.map(({ sampled }) => sampled.length);
  const config = {
    ...DEFAULT_SETTINGS,
    ...((vectors ?? []).length === 0 ? {} : { embedder: SESSION_EMBEDDER }),
    sample_size: Math.max(
      1,
      sizes.reduce((a, b) => Math.max(a, b), 0),
    ),
    logosphere: { ...kept, root, vectors: vectors !== null },
  };
  return config;
};

/** The interventions that injected a message, by its vector id, and the others by branch; of a branch that is not there, on the first. */
const interventionsOf = (
  session: LogosphereSession,
): {
  readonly injections: ReadonlyMap<number, SessionIntervention>;
  readonly told: ReadonlyMap<string | null, readonly SessionIntervention[]>;
} => {
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
  return { injections, told };
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
