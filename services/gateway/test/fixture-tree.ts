import { sha256, type WideJson } from '@stemma/canonical';
import { NO_DEPTH, NODE_KIND, type FlatTree, type Headers, type Payload } from '@stemma/context-tree';
import type { HistoryEvent } from '@stemma/events';
import type { DiffResult } from '@stemma/queries';

/** A block as a fixture tells it: alive from the cycle it is given in for `ttl` snapshots more. */
export type FixtureBlock = {
  readonly id: string;
  readonly content: WideJson;
  readonly role?: string;
  readonly kind?: string;
  readonly ttl?: number;
  readonly sys?: boolean;
};

export type Frame = {
  readonly history: string;
  readonly seq: number;
  readonly at: number;
  readonly events: readonly HistoryEvent[];
};

type Living = {
  readonly headers: Headers;
  readonly seq: number;
  readonly index: number;
  readonly expires: number | null;
  readonly sys: boolean;
};

export const START = Date.UTC(2026, 0, 5, 9, 0, 0);
const REGIONS = ['sys', 'seq', 'ah'] as const;

export const payloadOf = (event: HistoryEvent | undefined): Payload =>
  event?.type === 'NodeInserted' ? { content: event.node['content'] as WideJson } : {};

const openCycle = (frames: readonly Frame[]): number =>
  1 + frames.filter(({ events }) => events.some(({ type }) => type === 'SnapshotCommitted')).length;

export const eventsOf = (
  frames: readonly Frame[],
  blocks: readonly FixtureBlock[],
  commit: boolean,
): HistoryEvent[] => {
  const cycle = openCycle(frames);
  const at = BigInt(START + frames.length * 1_000) * 1_000_000n;
  const events: HistoryEvent[] = blocks.map(
    ({ id, content, role = 'user', kind = 'text', ttl, sys }, index) => ({
      type: 'NodeInserted',
      parent: sys === true ? 'sys' : 'ah',
      node: {
        id,
        nodeType: 'cb',
        offset: 0,
        ttl: ttl ?? null,
        priority: 0,
        cycle,
        created_at_ns: at,
        creation_index: index,
        role,
        kind,
        content,
      },
      expires: ttl === undefined || sys === true ? null : cycle + ttl + 1,
    }),
  );
  if (!commit) return events;
  const { living } = replay([...frames, { history: '', seq: frames.length, at: 0, events }]);
  for (const { headers, expires } of living)
    if (expires === cycle) events.push({ type: 'NodeExpired', id: headers.id });
  events.push({
    type: 'TurnSealed',
    turn: {
      id: `t${cycle}`,
      nodeType: 'mt',
      offset: 0,
      ttl: null,
      priority: 0,
      cycle,
      created_at_ns: at,
      creation_index: blocks.length,
    },
  });
  const blockCount = living.filter(({ expires }) => expires !== cycle).length;
  const hash = Uint8Array.from(sha256(JSON.stringify([cycle, blocks.map(({ id }) => id)])));
  const counts = { nodes: 4 + cycle + blockCount, blocks: blockCount, turns: cycle };
  events.push({
    type: 'SnapshotCommitted',
    cycle,
    treeHash: hash,
    threadHash: Uint8Array.from(sha256(hash)),
    counts,
  });
  return events;
};

/** The blocks that live after these frames, in the order they came, and the turns. */
const replay = (frames: readonly Frame[]): { living: Living[]; turns: Headers[]; cycle: number } => {
  let living: Living[] = [];
  const turns: Headers[] = [];
  let cycle = 0;
  for (const { seq, events } of frames)
    for (const [index, event] of events.entries()) {
      if (event.type === 'NodeInserted')
        living.push({
          headers: event.node,
          seq,
          index,
          expires: event.expires,
          sys: event.parent === 'sys',
        });
      else if (event.type === 'NodeExpired') living = living.filter(({ headers }) => headers.id !== event.id);
      else if (event.type === 'TurnSealed') turns.push(event.turn);
      else if (event.type === 'SnapshotCommitted') cycle = event.cycle;
    }
  return { living, turns, cycle };
};

export const flatTree = (frames: readonly Frame[]): FlatTree => {
  const { living, turns, cycle } = replay(frames);
  const headers: Headers[] = [];
  const kinds: number[] = [];
  const parents: number[] = [];
  const depths: number[] = [];
  const payloads: ({ seq: number; index: number } | null)[] = [];
  const ttls: (number | null)[] = [];
  const expires: (number | null)[] = [];
  const ends: number[] = [];
  const enter = (node: Headers, kind: number, parent: number, depth: number, block?: Living): number => {
    headers.push(node);
    kinds.push(kind);
    parents.push(parent);
    depths.push(depth);
    payloads.push(block === undefined ? null : { seq: block.seq, index: block.index });
    expires.push(block?.expires ?? null);
    ttls.push(block?.expires == null ? node.ttl : Math.min(node.ttl ?? 0, block.expires - 1 - cycle));
    ends.push(0);
    return headers.length - 1;
  };
  const leave = (i: number): void => void (ends[i] = headers.length);
  const region = (id: string, index: number): Headers => ({
    id,
    nodeType: id,
    offset: 0,
    ttl: null,
    priority: 0,
    cycle: 0,
    created_at_ns: 0n,
    creation_index: index,
  });
  const blocks = (chosen: readonly Living[], parent: number, depth: number): void => {
    for (const block of chosen) leave(enter(block.headers, NODE_KIND.block, parent, depth, block));
  };
  const root = enter(region('root', 0), NODE_KIND.root, -1, NO_DEPTH);
  const at = REGIONS.map((name, index) => {
    const i = enter(region(name, index), NODE_KIND[name], root, NO_DEPTH);
    if (name === 'sys')
      blocks(
        living.filter(({ sys }) => sys),
        i,
        -1,
      );
    if (name === 'ah')
      blocks(
        living.filter((one) => !one.sys && one.headers.cycle > cycle),
        i,
        0,
      );
    if (name === 'seq')
      for (const [n, turn] of turns.entries()) {
        const depth = turns.length - n;
        const j = enter(turn, NODE_KIND.turn, i, depth);
        blocks(
          living.filter((one) => !one.sys && one.headers.cycle === turn.cycle),
          j,
          depth,
        );
        leave(j);
      }
    leave(i);
    return i;
  });
  leave(root);
  const ids = headers.map(({ id }) => id);
  const byId = new Map(ids.map((id, i) => [id, i]));
  return {
    cycle,
    count: ids.length,
    ids,
    headers,
    ttls,
    expires,
    payloads,
    kinds: Uint8Array.from(kinds),
    parents: Int32Array.from(parents),
    ends: Int32Array.from(ends),
    depths: Int32Array.from(depths),
    sys: at[0] ?? 0,
    seq: at[1] ?? 0,
    ah: at[2] ?? 0,
    indexOf: (id) => byId.get(id),
  };
};

export const diffOf = (a: FlatTree, b: FlatTree): DiffResult => ({
  added: b.ids.filter((id) => a.indexOf(id) === undefined),
  removed: a.ids.filter((id) => b.indexOf(id) === undefined),
  changed: b.ids.flatMap((id, i) => {
    const before = a.indexOf(id);
    if (before === undefined) return [];
    const fields = [
      ...(a.ids[a.parents[before] ?? -1] === b.ids[b.parents[i] ?? -1] ? [] : ['parent']),
      ...(a.ttls[before] === b.ttls[i] ? [] : ['ttl']),
    ];
    return fields.length === 0 ? [] : [{ id, fields }];
  }),
});
