import { eventsFrom } from '@stemma/agent-loop';
import { npyBytes } from '@stemma/analysis';
import { canonicalJson, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { BranchNode } from '@stemma/queries';
import { messagesAt, type PoolMessage } from '../pool-message.ts';
import { settingsOf } from '../settings.ts';
import { timestampOf } from './timestamps.ts';

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
};

/**
 * A pool with all its branches in the layout of a Logosphere session (pool: Formats). Vector ids stay as they are if each belongs to one
 * message of the history; else messages are numbered in the order in which they were recorded.
 *
 * @throws E_NOT_A_POOL
 */
export const exportSession = async (
  home: Pick<Home, 'events' | 'branches' | 'position' | 'view' | 'pools' | 'audit'>,
  history: string,
): Promise<ExportedSession> => {
  const branches = await home.branches.tree(history);
  const log = await readLog(home, history);
  const messages: Exported[] = [];
  for (const branch of branches) messages.push(...(await ownMessages(home, history, branch, log)));
  messages.sort((a, b) => (log.order.get(a.id) ?? 0) - (log.order.get(b.id) ?? 0));
  const given = messages.map(({ vectorId }) => vectorId);
  const keeps = !given.includes(null) && new Set(given).size === given.length;
  const numberOf = new Map(messages.map(({ id, vectorId }, i) => [id, keeps ? (vectorId as number) : i]));
  const rows = messages.map((message) => ({ ...message, number: numberOf.get(message.id) as number }));
  rows.sort((a, b) => a.number - b.number);
  const names = namesOf(branches);
  const parts = branches.flatMap(({ branchId, parent }) => {
    const name = names.get(branchId) ?? null;
    if (name === null || parent === null) return [];
    const round = log.roundAt(parent.branchId, parent.seq);
    return [{ name, parent: names.get(parent.branchId) ?? ROOT, parent_iteration: round }];
  });
  const metadata = rows.map(
    ({ number, text, round, mindId, at, branchId, sampled, source }): WideJsonObject => {
      const branch = names.get(branchId) ?? null;
      const ids = sampled.flatMap((id) => numberOf.get(id) ?? []);
      return {
        round,
        mind_id: mindId,
        vector_id: number,
        timestamp: timestampOf(at),
        text,
        ...(branch === null ? {} : { branch }),
        ...(ids.length === 0 ? {} : { sampled_ids: ids }),
        ...(mindId < 0 && source !== 'seed' ? { injected: true } : {}),
      };
    },
  );
  const interventions: WideJson[] = [];
  for await (const {
    annotations: _annotations,
    seq: _seq,
    history: _history,
    branchId,
    ...intervention
  } of home.audit.eachIntervention(branchRefOf(history, 0))) {
    const { node } = intervention.content;
    const number = typeof node === 'string' ? numberOf.get(node) : undefined;
    interventions.push({
      ...intervention,
      content: { ...intervention.content, ...(number === undefined ? {} : { vector_id: number }) },
      branch: names.get(branchId) ?? ROOT,
    });
  }
  const text = new TextEncoder();
  const lines = (values: readonly WideJson[]): Uint8Array =>
    text.encode(values.map((value) => `${canonicalJson(value)}\n`).join(''));
  return {
    files: [
      { path: 'vector_db/metadata.jsonl', bytes: lines(metadata) },
      { path: 'vector_db/embeddings.npy', bytes: vectorsOf(rows) },
      { path: 'interventions.jsonl', bytes: lines(interventions) },
      { path: 'branches.json', bytes: text.encode(`${canonicalJson(parts)}\n`) },
    ],
    messages: rows.length,
    branches: branches.length,
    interventions: interventions.length,
  };
};

/** What the branch is called that the session began with. */
const ROOT = 'main';

/** The names of the branches that start from others; null: the first one. */
const namesOf = (branches: readonly BranchNode[]): ReadonlyMap<number, string | null> =>
  new Map(
    branches.map(({ branchId, name, parent }) => [
      branchId,
      // Files leave the first branch without a name, whatever it is called now.
      parent === null ? null : name === null || name === ROOT ? `branch-${branchId}` : name,
    ]),
  );

const vectorsOf = (rows: readonly Exported[]): Uint8Array => {
  const dimension = rows.find(({ vector }) => vector !== undefined)?.vector?.length ?? 0;
  const values = new Float64Array(rows.length * dimension);
  for (const [i, { vector }] of rows.entries()) if (vector !== undefined) values.set(vector, i * dimension);
  return npyBytes({ rows: rows.length, dimension, values }, '<f4');
};

/** What the events of a history say of its messages and rounds. */
type ReadLog = {
  /** The number of the event that brought each message. */
  readonly order: ReadonlyMap<string, number>;
  readonly branchOf: ReadonlyMap<string, number>;
  readonly at: ReadonlyMap<string, bigint>;
  /** The round in whose cycle a message came. */
  readonly roundOf: ReadonlyMap<string, number>;
  /** What a mind was shown in a round of a branch: `branch round mind`, and `branch round` for whoever said something in it. */
  readonly shown: ReadonlyMap<string, readonly string[]>;
  /** The newest round of a branch at a frame. */
  roundAt(branchId: number, seq: number): number;
};

const readLog = async (home: Pick<Home, 'events'>, history: string): Promise<ReadLog> => {
  const order = new Map<string, number>();
  const branchOf = new Map<string, number>();
  const at = new Map<string, bigint>();
  const roundOf = new Map<string, number>();
  const shown = new Map<string, readonly string[]>();
  const commits = new Map<number, { readonly seq: number; readonly cycle: number }[]>();
  const roundAt = (branchId: number, seq: number): number =>
    commits.get(branchId)?.findLast((commit) => commit.seq <= seq)?.cycle ?? 0;
  for await (const { event, branchId, seq } of eventsFrom(home, history)) {
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
    order.set(node.id, order.size);
    branchOf.set(node.id, branchId);
    const time: unknown = node['created_at_ns'];
    at.set(node.id, typeof time === 'bigint' || typeof time === 'number' ? BigInt(time) : 0n);
    roundOf.set(node.id, roundAt(branchId, seq));
  }
  return { order, branchOf, at, roundOf, shown, roundAt };
};

/** The messages that came on a branch and are there at its tip. */
const ownMessages = async (
  home: Pick<Home, 'branches' | 'position' | 'view' | 'pools'>,
  history: string,
  { branchId }: BranchNode,
  { branchOf, at, roundOf, shown }: ReadLog,
): Promise<readonly Exported[]> => {
  const branchRef: BranchRef = branchRefOf(history, branchId);
  const tip = await home.position(branchRef);
  settingsOf((await home.branches.config(tip)).config, tip.branch);
  const { messages: embedded } = await home.pools.embedded(tip);
  const vectors = new Map(embedded.map(({ node, vector }) => [node, vector]));
  return messagesAt(await home.view(tip)).flatMap((message): Exported[] => {
    const { id, mindId } = message;
    if (branchOf.get(id) !== branchId) return [];
    const round = message.round ?? roundOf.get(id) ?? 0;
    const sampled =
      mindId < 0
        ? []
        : (shown.get(`${branchId} ${round} ${mindId}`) ?? shown.get(`${branchId} ${round}`) ?? []);
    return [{ ...message, branchId, at: at.get(id) ?? 0n, round, sampled, vector: vectors.get(id) }];
  });
};
