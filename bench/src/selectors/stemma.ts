import {
  flattenRecords,
  freshFixed,
  type FlatTree,
  type NodeRecord,
  type TurnRecord,
} from '@stemma/context-tree';
import { parseSelector, select } from '@stemma/selectors';
import { median, timed } from '../measure.ts';
import {
  BLOCKS_IN_CORE,
  BLOCKS_IN_HEAD,
  BLOCKS_IN_SYS,
  questions,
  shapeOf,
  type Answered,
  type Block,
  type SelectorInput,
} from './shape.ts';

/** The tree as a snapshot that was read gives it. */
const treeOf = (nodes: number): FlatTree => {
  const { turns, block } = shapeOf(nodes);
  const cycle = turns;
  const records: NodeRecord[] = [];
  const sealed: TurnRecord[] = [];
  const payload = { seq: 0, index: 0 };
  const headers = (id: string, nodeType: string, at: number, n: number, offset = 0) => ({
    id, nodeType, offset, ttl: null, priority: 0, cycle: at, created_at_ns: BigInt(at), creation_index: n,
  }); // prettier-ignore
  const add = (
    { id, role, ttl }: Block,
    place: NodeRecord['location'],
    parent: string | null,
    at: number,
    n: number,
    offset = 0,
  ): void => {
    const own = { ...headers(id, 'cb', at, n, offset), role, kind: 'text', ttl };
    records.push({
      headers: own,
      location: place,
      parent,
      expires: ttl === null ? null : cycle + 1 + ttl,
      payload,
    });
  };
  for (let n = 0; n < BLOCKS_IN_SYS; n += 1) add(block('s', n), { kind: 'sys', number: 0 }, null, 1, n);
  for (let turn = 1; turn <= turns; turn += 1) {
    const place = { kind: 'turn', cycle: turn, ordinal: 0 } as const;
    sealed.push({ headers: headers(`t${turn}`, 'mt', turn, 0), location: place, expires: null, payload });
    add(block(`p${turn}`, 0), place, null, turn, 1, -1);
    records.push({
      headers: headers(`m${turn}`, 'mc', turn, 2),
      location: place,
      parent: null,
      expires: null,
      payload,
    });
    for (let n = 0; n < BLOCKS_IN_CORE; n += 1) add(block(`c${turn}`, n), place, `m${turn}`, turn, 3 + n);
  }
  const head = { kind: 'turn', cycle: cycle + 1, ordinal: 0 } as const;
  for (let n = 0; n < BLOCKS_IN_HEAD; n += 1) add(block('h', n), head, null, cycle + 1, n);
  return flattenRecords({
    cycle,
    fixed: freshFixed({ root: 'root', sys: 'sys', seq: 'seq', ah: 'ah' }),
    turns: sealed,
    nodes: records,
  });
};

/** One question to a tree of this many nodes. */
export const askStemma = async ({ nodes, question, rounds }: SelectorInput): Promise<Answered> => {
  const tree = treeOf(nodes);
  const text = questions(shapeOf(nodes).turns)[question]!.stemma;
  const ask = (): readonly string[] => select(tree, parseSelector(text), () => ({}));
  const { ms: cold, value } = await timed(ask);
  ask();
  const warm: number[] = [];
  for (let round = 0; round < rounds; round += 1) warm.push((await timed(ask)).ms);
  return { cold, warm: median(warm), found: value.length };
};
