import type { FlatTree } from '@stemma/context-tree';
import type { Author } from '@stemma/events';
import type { Command, Step } from '@stemma/history';

/** A generator of whole numbers below a bound: the same for the same seed (mulberry32). */
export type Draw = {
  (bound: number): number;
  readonly of: <T>(list: readonly T[]) => T | undefined;
};

export const drawFrom = (seed: number): Draw => {
  let state = seed >>> 0;
  const next = (bound: number): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % Math.max(1, bound);
  };
  return Object.assign(next, {
    of: <T>(list: readonly T[]): T | undefined => list[next(list.length)],
  });
};

/** What the next command is drawn from. */
export type Situation = {
  readonly branchId: number;
  readonly seq: number;
  readonly tree: FlatTree;
  /** Positions of the history, any of its branches. */
  readonly positions: readonly { readonly branchId: number; readonly seq: number }[];
};

const TEXTS = ['Is it late?', 'It is late.', 'Bring the lamp.', 'The lamp is here. 🏮', 'Sing!', ''];
const CONTENTS = [...TEXTS, { say: 'It is late.', loud: true }, ['a', 1, null], 12n];

/** Mostly a block or container, sometimes any node. */
const idDrawnBy = (draw: Draw, { ids, headers }: FlatTree): string => {
  const own = ids.filter((_, i) => headers[i]?.nodeType === 'cb' || headers[i]?.nodeType === 'mc');
  return draw.of(own.length === 0 || draw(8) === 0 ? ids : own) ?? 'none';
};

const nodeDrawnBy = (draw: Draw, tree: FlatTree): Record<string, never> => {
  const ref = idDrawnBy(draw, tree);
  const content = draw(9) === 0 ? undefined : draw.of(CONTENTS);
  return {
    nodeType: 'cb',
    offset: draw(3) - 1,
    ...(draw(3) === 0 ? { ttl: draw(4) } : {}),
    ...(draw(4) === 0 ? {} : { role: draw.of(['user', 'assistant', 'assistant', 'tool', null]) }),
    ...(draw(3) === 0 ? { kind: draw.of(['text', 'call']) } : {}),
    ...(content === undefined ? {} : { content }),
    ...(draw(3) === 0 ? { refs: [ref] } : {}),
    ...(draw(8) === 0 ? { data_mood: draw(3), priority: draw(5) } : {}),
  } as never;
};

const boxDrawnBy = (draw: Draw, tree: FlatTree): Record<string, never> =>
  ({
    nodeType: 'mc',
    offset: draw(2),
    children: [nodeDrawnBy(draw, tree), nodeDrawnBy(draw, tree)],
    ...(draw(3) === 0 ? { ttl: 1 + draw(3) } : {}),
  }) as never;

const editDrawnBy = (draw: Draw, { tree }: Situation): Step[] => {
  const id = idDrawnBy(draw, tree);
  const node = draw(6) === 0 ? boxDrawnBy(draw, tree) : nodeDrawnBy(draw, tree);
  const parents = ['^ah', '^sys', ...tree.ids.filter((_, i) => tree.headers[i]?.nodeType !== 'cb')];
  switch (draw(15)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return [{ op: 'insert', parent: '^ah', node }];
    case 4:
      return [{ op: 'insert', parent: '^sys', node }];
    case 5:
    case 6:
      return [{ op: 'insert', parent: draw.of(parents) ?? '^ah', node }];
    case 7:
      return [{ op: 'remove', id }];
    case 8:
      return [{ op: 'replace', id, set: { content: draw.of(CONTENTS) ?? '' } }];
    case 9:
      return [{ op: 'replace', id, set: { data_mood: draw(9) } }];
    case 10:
    case 11:
      return [{ op: 'move', id, parent: draw.of(parents) ?? '^ah' }];
    case 12:
      return [{ op: 'priorities', priorities: [{ id, priority: draw(5) }] }];
    case 13:
      return [
        { op: 'insert', parent: '^ah', node },
        { op: 'replace', id, set: { content: draw.of(TEXTS) ?? '' } },
        { op: 'remove', id: idDrawnBy(draw, tree) },
      ];
    default:
      return [
        { op: 'move', id, parent: '^ah' },
        { op: 'insert', parent: '^sys', node },
      ];
  }
};

const besideTheTree = (draw: Draw, { branchId, seq, positions }: Situation): Step[] => {
  const position = draw.of(positions);
  const at = draw(2) === 0 || position === undefined ? {} : { position };
  switch (draw(9)) {
    case 0:
      return [{ op: 'name', name: `named-${branchId}-${seq}`, ...at }];
    case 1:
      return [{ op: 'save', ...(draw(2) === 0 ? { description: `saved at ${seq}` } : {}), ...at }];
    case 2:
      return [
        { op: 'save', name: `saved-${seq}`, description: 'twice' },
        { op: 'annotate', note: `noted at ${seq}` },
      ];
    case 3:
      return [{ op: 'annotate', note: `about it at ${seq}`, ...at }];
    case 4:
      return [{ op: 'config', set: { [`key_${draw(3)}`]: draw.of([1, 'two', null]) ?? null } }];
    case 5:
      return [{ op: 'config', set: { observe: draw(2) === 0 } }];
    case 6:
      return [
        {
          op: 'policy',
          policy: draw(3) === 0 ? null : { max_blocks: 3 + draw(5), keep_turns: 1, pins: [] },
        },
      ];
    case 7:
      return [{ op: 'query', question: 'What next?', answer: { say: 'nothing' }, mind: 'one' }];
    default:
      return [
        {
          op: 'run',
          rounds: draw(3),
          total_rounds_after: seq,
          ...(position === undefined ? {} : { since: position }),
        },
      ];
  }
};

const stepsDrawnBy = (draw: Draw, at: Situation): Step[] => {
  const position = draw.of(at.positions) ?? { branchId: at.branchId, seq: at.seq };
  const before = draw.of(at.positions.filter(({ branchId }) => branchId === at.branchId)) ?? position;
  const what = draw(100);
  if (what < 14) return [{ op: 'commit' }];
  if (what < 34) return [...editDrawnBy(draw, at), { op: 'commit' }];
  if (what < 70) return editDrawnBy(draw, at);
  if (what < 84) return besideTheTree(draw, at);
  if (what < 87) return [{ op: 'inject', text: `a hint at ${at.seq}`, role: 'user' }];
  if (what < 88)
    return [
      { op: 'inject', text: `a hint at ${at.seq}`, parent: '^sys' },
      { op: 'commit' },
      { op: 'save', description: 'hinted' },
    ];
  if (what < 90)
    return [
      {
        op: 'observe',
        observations: [
          {
            kind: draw.of(['opened', 'searched', 'selected', 'exported'] as const) ?? 'opened',
            what: '@t0 .cb',
            at: position,
            times: 1 + draw(3),
            first_at: 5_000_000n,
            last_at: 9_000_000n,
          },
        ],
      },
    ];
  if (what < 96)
    return [
      {
        op: 'fork',
        at: position,
        name: draw(2) === 0 ? `fork-${at.seq}` : null,
        ...(draw(2) === 0 ? { description: `apart from ${at.seq}` } : {}),
      },
    ];
  return [
    {
      op: 'rollback',
      to: draw(3) === 0 ? position : before,
      abandoned: draw(2) === 0 ? `left-${at.seq}` : null,
      ...(draw(2) === 0 ? { description: `back at ${at.seq}` } : {}),
    },
  ];
};

const BY_ACTORS: ReadonlySet<Step['op']> = new Set(['inject', 'query', 'run', 'observe']);

/** A command that the rules may refuse. */
export const commandDrawnBy = (draw: Draw, history: string, id: string, at: Situation): Command => {
  const steps = stepsDrawnBy(draw, at);
  const isActor = steps.some(({ op }) => BY_ACTORS.has(op)) || draw(4) === 0;
  const by: Author = isActor ? { actor: draw.of(['ana', 'ben']) ?? 'ana' } : { recorder: 'test' };
  const insertsFirst = steps[0]?.op === 'insert';
  return {
    id,
    history,
    branchId: at.branchId,
    by,
    steps,
    ...(isActor && draw(2) === 0 ? { notes: `why ${id}` } : {}),
    ...(insertsFirst && draw(5) === 0
      ? { redactions: [{ step: 0, node: 0, field: 'content', rule: 'a-key', count: 2 }] }
      : {}),
  };
};
