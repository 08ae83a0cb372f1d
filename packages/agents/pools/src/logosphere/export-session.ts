import { eventsFrom } from '@stemma/agent-loop';
import { npyBytes } from '@stemma/analysis';
import { isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { BranchNode } from '@stemma/queries';
import { defined } from '@stemma/values';
import { messagesAt, type PoolMessage } from '../pool-message.ts';
import { settingsOf } from '../settings.ts';
import { DOCUMENT_FORM, inOrder, writtenAs } from './json-lines.ts';
import { ROOT } from './read-branches.ts';
import { lineOfRecord, lineOfRow } from './session-lines.ts';

/** The files of a session, by their paths in its folder. */
export type ExportedSession = {
  readonly files: readonly { readonly path: string; readonly bytes: Uint8Array }[];
  readonly messages: number;
  readonly branches: number;
  readonly interventions: number;
};

type Exported = PoolMessage & {
  readonly branchId: number;
  readonly at: bigint;
  readonly round: number;
  readonly sampled: readonly string[];
  readonly vector: Float32Array | undefined;
  /** What is kept of the line that it was imported from. */
  readonly kept: WideJson | undefined;
};

/**
 * A pool with all its branches in the layout of a Logosphere session (pool: Formats). What came from one has its lines again. Vector ids
 * stay as they are if each belongs to one message of the history; else messages are numbered in the order in which they were recorded.
 *
 * @throws E_NOT_A_POOL
 */
export const exportSession = async (
  home: Pick<Home, 'read' | 'branches' | 'position' | 'queries'>,
  history: string,
): Promise<ExportedSession> => {
  const branches = await home.branches.tree(history);
  const log = await readLog(home, history);
  const messages: Exported[] = [];
  for (const branch of branches) messages.push(...(await ownMessages(home, history, branch, log)));
  messages.sort((a, b) => (log.order.get(a.id) ?? 0) - (log.order.get(b.id) ?? 0));
  const given = messages.map(({ vectorId }) => vectorId);
  const highest = given.reduce<number>((most, id) => Math.max(most, id ?? 0), 0);
  // The row of a vector has the number of its message, so that numbers far apart would make a file of nothing.
  const isDense = highest < 2 * given.length + 1_000;
  const keeps = isDense && !given.includes(null) && new Set(given).size === given.length;
  const numberOf = new Map(messages.map(({ id, vectorId }, i) => [id, keeps ? (vectorId as number) : i]));
  const rows = messages.map((message) => ({ ...message, number: numberOf.get(message.id) as number }));
  rows.sort((a, b) => a.number - b.number);
  const entries = await entriesOf(home, history, branches);
  const { document, root, names } = entries;
  const nameOf = (branchId: number): string => names.get(branchId) ?? ROOT;
  const metadata = rows.map(({ number, branchId, sampled, source, kept, ...message }) =>
    lineOfRow(
      {
        ...message,
        vectorId: number,
        branch: branchId === 0 ? root : nameOf(branchId),
        sampled: sampled.flatMap((id) => numberOf.get(id) ?? []),
        injected: message.mindId < 0 && source !== 'seed',
      },
      keeps ? kept : undefined,
    ),
  );
  const positionOf = (ref: string | null): string | null => {
    if (ref === null) return null;
    const seq = Number(ref.slice(2));
    const at = log.branchAt(seq);
    return root === null && at === 0
      ? `iter_${log.roundAt(at, seq)}`
      : `${nameOf(at)}@${log.roundAt(at, seq)}`;
  };
  const told: { readonly place: number; readonly line: string }[] = [];
  const own: string[] = [];
  for await (const {
    annotations: _annotations,
    seq: _seq,
    history: _history,
    branch: _branch,
    branchId: _branchId,
    ...intervention
  } of home.queries.audit.eachIntervention(branchRefOf(history, 0))) {
    const { retold, ...content } = intervention.content;
    if (retold !== undefined) {
      // A message from outside that no line tells of was imported without one.
      if (!isJsonObject(retold) || !isJsonObject(retold['record'])) continue;
      const place = isJsonObject(retold['written']) ? retold['written']['place'] : undefined;
      told.push({
        place: typeof place === 'number' ? place : Infinity,
        line: lineOfRecord(retold['record'], retold['written']),
      });
      continue;
    }
    const { node } = content;
    const number = typeof node === 'string' ? numberOf.get(node) : undefined;
    own.push(
      lineOfRecord(
        {
          ...intervention,
          snapshot_before: positionOf(intervention.snapshot_before),
          snapshot_after: positionOf(intervention.snapshot_after),
          content: { ...content, ...defined({ vector_id: number }) },
        },
        undefined,
      ),
    );
  }
  told.sort((a, b) => (a.place < b.place ? -1 : Number(a.place > b.place)));
  const interventions = [...told.map(({ line }) => line), ...own];
  const text = new TextEncoder();
  const linesOf = (lines: readonly string[]): Uint8Array =>
    text.encode(lines.map((line) => `${line}\n`).join(''));
  // A session without vectors is not given those that Stemma makes.
  const hasVectors = entries.hasVectors && rows.some(({ vector }) => vector !== undefined);
  const isPlain = document === null && branches.length === 1;
  return {
    files: [
      { path: 'vector_db/metadata.jsonl', bytes: linesOf(metadata) },
      ...(hasVectors ? [{ path: 'vector_db/embeddings.npy', bytes: vectorsOf(rows) }] : []),
      ...(interventions.length > 0 ? [{ path: 'interventions.jsonl', bytes: linesOf(interventions) }] : []),
      ...(isPlain
        ? []
        : [{ path: 'branches.json', bytes: text.encode(branchesOf(entries, branches, log, rows)) }]),
      ...(entries.session === null ? [] : [{ path: 'session.json', bytes: text.encode(entries.session) }]),
    ],
    messages: rows.length,
    branches: branches.length,
    interventions: interventions.length,
  };
};

/** What is kept of the branches of an imported session. */
type Entries = {
  /** What the branch is called that the session began with; null: lines do not name it. */
  readonly root: string | null;
  readonly names: ReadonlyMap<number, string>;
  readonly kept: ReadonlyMap<number, WideJsonObject>;
  /** How `branches.json` was written; null: it was not there. */
  readonly document: WideJsonObject | null;
  readonly hasVectors: boolean;
  /** The text of `session.json`; null: there is none. */
  readonly session: string | null;
};

const entriesOf = async (
  home: Pick<Home, 'position' | 'branches'>,
  history: string,
  branches: readonly BranchNode[],
): Promise<Entries> => {
  const own = new Map<number, WideJsonObject>();
  for (const { branchId } of branches) {
    const { config } = await home.branches.config(await home.position(branchRefOf(history, branchId)));
    const { logosphere } = config;
    if (isJsonObject(logosphere)) own.set(branchId, logosphere);
  }
  const first = own.get(0);
  const { root = ROOT, session } = first ?? {};
  const kept = new Map<number, WideJsonObject>();
  const names = new Map<number, string>();
  const called = new Set<string>();
  for (const { branchId, name, parent } of branches) {
    const entry = branchId === 0 ? first?.['entry'] : own.get(branchId);
    const isOwn = isJsonObject(entry) && typeof entry['key'] === 'string' && !called.has(entry['key']);
    // A branch that began after the import has the configuration of its parent.
    const isInherited = parent !== null && JSON.stringify(own.get(parent.branchId)) === JSON.stringify(entry);
    const key = isOwn && !isInherited ? (entry['key'] as string) : null;
    if (key !== null) kept.set(branchId, entry as WideJsonObject);
    const plain = parent === null ? (typeof root === 'string' ? root : ROOT) : (name ?? `branch-${branchId}`);
    const chosen = key ?? (called.has(plain) ? `branch-${branchId}` : plain);
    called.add(chosen);
    names.set(branchId, chosen);
  }
  return {
    hasVectors: first?.['vectors'] !== false,
    root: typeof root === 'string' ? root : null,
    names,
    kept,
    document: first === undefined ? {} : first['newline'] === undefined ? null : first,
    session: isJsonObject(session) ? documentText(session['document'] ?? null, session) : null,
  };
};

const documentText = (value: WideJson, { order, form, newline }: WideJsonObject): string =>
  `${writtenAs(inOrder(value, order), typeof form === 'string' ? form : DOCUMENT_FORM)}${newline === false ? '' : '\n'}`;

/** The text of `branches.json`: an object by name, each branch with what was kept of it and with what came to it since. */
const branchesOf = (
  { names, kept, document }: Entries,
  branches: readonly BranchNode[],
  log: ReadLog,
  rows: readonly Exported[],
): string => {
  const reached = new Map<number, number>();
  for (const { branchId, round } of rows) reached.set(branchId, Math.max(reached.get(branchId) ?? 0, round));
  const placeOf = ({ branchId }: BranchNode): number => {
    const place = kept.get(branchId)?.['place'];
    return typeof place === 'number' ? place : Infinity;
  };
  const sorted = branches.toSorted((a, b) =>
    placeOf(a) < placeOf(b) ? -1 : Number(placeOf(a) > placeOf(b)),
  );
  const entries = sorted.map(({ branchId, parent, seq }): [string, WideJson] => {
    const name = names.get(branchId) ?? ROOT;
    const { entry, order } = kept.get(branchId) ?? {};
    const own = isJsonObject(entry) ? entry : {};
    const from = parent === null ? null : (names.get(parent.branchId) ?? ROOT);
    const newest = Math.max(log.roundAt(branchId, seq), reached.get(branchId) ?? 0);
    const before = own['iteration'];
    const iteration = typeof before === 'number' ? Math.max(before, newest) : newest;
    const made: WideJsonObject = {
      name,
      parent: from,
      parent_iteration: parent === null ? null : log.roundAt(parent.branchId, parent.seq),
      iteration,
      config: {},
    };
    // What an object of branches says of one is whole; a list leaves out what this one adds.
    const whole = {
      ...(isJsonObject(entry) && document?.['document'] !== undefined ? {} : made),
      ...own,
      ...('iteration' in own ? { iteration } : {}),
    };
    const wanted = order ?? ['name', 'parent', 'parent_iteration', 'iteration', 'config'];
    return [name, inOrder(whole, wanted)];
  });
  const { document: rest, keys, form, newline } = document ?? {};
  const others = isJsonObject(rest) ? rest : { current: names.get(0) ?? ROOT };
  const top = Array.isArray(keys)
    ? (keys as readonly WideJson[]).filter((key) => typeof key === 'string')
    : ['current', 'branches'];
  const pairs = [...new Set([...top, 'branches'])].flatMap((key): [string, WideJson][] => {
    if (key === 'branches') return [[key, Object.fromEntries(entries)]];
    return Object.hasOwn(others, key) ? [[key, others[key] as WideJson]] : [];
  });
  return `${writtenAs(Object.fromEntries(pairs), typeof form === 'string' ? form : DOCUMENT_FORM)}${newline === true ? '\n' : ''}`;
};

const vectorsOf = (messages: readonly (Exported & { readonly number: number })[]): Uint8Array => {
  const rows: (Exported | undefined)[] = [];
  for (const message of messages) rows[message.number] = message;
  const dimension = messages.find(({ vector }) => vector !== undefined)?.vector?.length ?? 0;
  const values = new Float64Array(rows.length * dimension);
  for (const [i, row] of rows.entries()) if (row?.vector !== undefined) values.set(row.vector, i * dimension);
  return npyBytes({ rows: rows.length, dimension, values }, '<f4');
};

/** What the events of a history say of its messages and rounds. */
type ReadLog = {
  /** The number of the event that brought each message. */
  readonly order: ReadonlyMap<string, number>;
  readonly branchOf: ReadonlyMap<string, number>;
  /** What is kept of the line of an injected message. */
  readonly rowOf: ReadonlyMap<string, WideJson>;
  /** The branch that a frame is of. */
  branchAt(seq: number): number;
  readonly at: ReadonlyMap<string, bigint>;
  /** The round in whose cycle a message came. */
  readonly roundOf: ReadonlyMap<string, number>;
  /** What a mind was shown in a round of a branch: `branch round mind`, and `branch round` for whoever said something in it. */
  readonly shown: ReadonlyMap<string, readonly string[]>;
  /** The newest round of a branch at a frame. */
  roundAt(branchId: number, seq: number): number;
};

const readLog = async (home: Pick<Home, 'read'>, history: string): Promise<ReadLog> => {
  const order = new Map<string, number>();
  const branchOf = new Map<string, number>();
  const rowOf = new Map<string, WideJson>();
  const frames: number[] = [];
  let row: WideJson | undefined;
  const at = new Map<string, bigint>();
  const roundOf = new Map<string, number>();
  const shown = new Map<string, readonly string[]>();
  const commits = new Map<number, { readonly seq: number; readonly cycle: number }[]>();
  const roundAt = (branchId: number, seq: number): number =>
    commits.get(branchId)?.findLast((commit) => commit.seq <= seq)?.cycle ?? 0;
  for await (const { event, branchId, seq } of eventsFrom(home, history)) {
    frames[seq] = branchId;
    if (event.type === 'InterventionRecorded') {
      const { retold } = event.content as WideJsonObject;
      row = isJsonObject(retold) ? retold['row'] : undefined;
    }
    if (event.type === 'BranchStarted')
      commits.set(branchId, [{ seq, cycle: roundAt(event.parent, event.at) }]);
    if (event.type === 'SnapshotCommitted')
      commits.set(branchId, [...(commits.get(branchId) ?? []), { seq, cycle: event.cycle }]);
    if (event.type !== 'NodeInserted') continue;
    const { node } = event;
    if (node.kind === 'prompt' && Array.isArray(node['data_sampled_ids'])) {
      const { data_round: round, data_mind_id: mind } = node as { readonly [name: string]: unknown };
      const ids = node['data_sampled_ids'].filter((id) => typeof id === 'string');
      shown.set([branchId, round, ...(typeof mind === 'number' ? [mind] : [])].join(' '), ids);
    }
    if (row !== undefined && node['data_intervention'] !== undefined) rowOf.set(node.id, row);
    else if (node['data_row'] !== undefined) rowOf.set(node.id, node['data_row'] as WideJson);
    order.set(node.id, order.size);
    branchOf.set(node.id, branchId);
    const time: unknown = node['created_at_ns'];
    at.set(node.id, typeof time === 'bigint' || typeof time === 'number' ? BigInt(time) : 0n);
    roundOf.set(node.id, roundAt(branchId, seq));
  }
  return { order, rowOf, branchAt: (seq) => frames[seq] ?? 0, branchOf, at, roundOf, shown, roundAt };
};

/** The messages that came on a branch and are there at its tip. */
const ownMessages = async (
  home: Pick<Home, 'branches' | 'position' | 'read' | 'queries'>,
  history: string,
  { branchId }: BranchNode,
  { branchOf, rowOf, at, roundOf, shown }: ReadLog,
): Promise<readonly Exported[]> => {
  const branchRef: BranchRef = branchRefOf(history, branchId);
  const tip = await home.position(branchRef);
  settingsOf((await home.branches.config(tip)).config, tip.branch);
  const { messages: embedded } = await home.queries.pools.embedded(tip);
  const vectors = new Map(embedded.map(({ node, vector }) => [node, vector]));
  return messagesAt(await home.read.view(tip)).flatMap((message): Exported[] => {
    const { id, mindId } = message;
    if (branchOf.get(id) !== branchId) return [];
    const round = message.round ?? roundOf.get(id) ?? 0;
    const sampled =
      mindId < 0
        ? []
        : (shown.get(`${branchId} ${round} ${mindId}`) ?? shown.get(`${branchId} ${round}`) ?? []);
    const kept = rowOf.get(id);
    return [{ ...message, branchId, at: at.get(id) ?? 0n, round, sampled, vector: vectors.get(id), kept }];
  });
};
