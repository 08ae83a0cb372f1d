import { exportTree, PAYLOADS } from '@stemma/context-tree';
import { fetching, isMissing, missing, missingKind, resume } from '@stemma/suspend';
import { codeOf, type ReferenceHistory, referenceHistory } from '@stemma/test-kit';
import { expect, test } from 'vitest';
import { commandDigest, parseCommand, type Command } from '../src/command.ts';
import { type Step } from '../src/steps/catalogue.ts';
import { decide } from '../src/decide/decide.ts';
import { historyId } from '../src/history-id.ts';

const started = (): ReferenceHistory => {
  const history = referenceHistory();
  history.submit(0, [{ op: 'start', name: null }], 0n);
  return history;
};

const block = (id: string, more: object = {}): Step => ({
  op: 'insert',
  parent: '^ah',
  node: { id, nodeType: 'cb', ...more },
});

/** A list nested `depth` deep. */
const nested = (depth: number): never => {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = [value];
  return value as never;
};

const boxes = (depth: number): never => {
  let node: object = { nodeType: 'mc' };
  for (let i = 1; i < depth; i++) node = { nodeType: 'mc', children: [node] };
  return node as never;
};

const own = (key: string, value: unknown): never =>
  JSON.parse(`{${JSON.stringify(key)}:${JSON.stringify(value)}}`) as never;

test.each<[what: string, step: Step, code: string]>([
  ['an id of 513 bytes', block('é'.repeat(256) + 'x'), 'E_KEY_TOO_LONG'],
  ['an empty id', block(''), 'E_NODE_INVALID'],
  ['an id with an unpaired surrogate', block('a\ud800'), 'E_INPUT_SURROGATE'],
  ['no type', { op: 'insert', parent: '^ah', node: { id: 'x' } }, 'E_NODE_INVALID'],
  ['a type without a prefix', { op: 'insert', parent: '^ah', node: { nodeType: 'note' } }, 'E_NODE_INVALID'],
  ['a region', { op: 'insert', parent: '^ah', node: { nodeType: '^sys' } }, 'E_NODE_INVALID'],
  ['a ttl of a half', block('x', { ttl: 0.5 }), 'E_NODE_INVALID'],
  ['a ttl below 0', block('x', { ttl: -1 }), 'E_NODE_INVALID'],
  ['a priority that is a text', block('x', { priority: '1' }), 'E_NODE_INVALID'],
  ['refs that are no list', block('x', { refs: 'a' }), 'E_NODE_INVALID'],
  ['a removable block', block('x', { removable: true }), 'E_NODE_INVALID'],
  [
    'a container with content',
    { op: 'insert', parent: '^ah', node: { nodeType: 'mc', content: '' } },
    'E_NODE_INVALID',
  ],
  ['a time of its own', block('x', { created_at_ns: 5n }), 'E_NODE_INVALID'],
  ['an integer beyond 2^53 in content', block('x', { content: { n: 2n ** 60n } }), 'E_INPUT_NUMBER'],
  ['the key __proto__ in content', block('x', { content: own('__proto__', 1) }), 'E_INPUT_FORBIDDEN_KEY'],
  [
    'the attribute constructor',
    { op: 'insert', parent: '^ah', node: own('constructor', 1) },
    'E_NODE_INVALID',
  ],
  ['content nested 400 deep', block('x', { content: nested(400) }), 'E_INPUT_TOO_DEEP'],
  ['content nested 20,000 deep', block('x', { content: nested(20_000) }), 'E_INPUT_TOO_DEEP'],
  ['containers nested 101 deep', { op: 'insert', parent: '^sys', node: boxes(101) }, 'E_INPUT_TOO_DEEP'],
  ['an unknown parent', { op: 'insert', parent: 'nobody', node: { nodeType: 'cb' } }, 'E_NODE_NOT_FOUND'],
  ['a block under ^seq', { op: 'insert', parent: 'seq', node: { nodeType: 'cb' } }, 'E_PLACEMENT'],
  ['a turn', { op: 'insert', parent: '^ah', node: { nodeType: 'mt:x' } }, 'E_PLACEMENT'],
  [
    'a core beside the axis',
    { op: 'insert', parent: '^ah', node: { nodeType: 'mc', offset: 1 } },
    'E_PLACEMENT',
  ],
  ['a name with a space', { op: 'name', name: 'a b' }, 'E_NAME_INVALID'],
  ['a policy without a bound', { op: 'policy', policy: { keep_turns: 1 } }, 'E_POLICY_INVALID'],
  ['a replacement of nothing', { op: 'replace', id: 'ah', set: { content: 1 } }, 'E_PLACEMENT'],
  ['a second start', { op: 'start', name: null }, 'E_HISTORY_EXISTS'],
])(
  '%s is refused with a code, and nothing is written',
  { tags: ['context-tree§8:codes', 'context-tree§10.2'] },
  (_, step, code) => {
    const history = started();
    const before = history.parts(0, null);
    expect(codeOf(() => history.submit(0, [step], 1n))).toBe(code);
    expect([history.frames.length, history.parts(0, null)]).toEqual([1, before]);
  },
);

test(
  'the deepest tree with the deepest values is exported and imported again',
  { tags: ['context-tree§4:import'] },
  () => {
    const history = started();
    const deepest = JSON.parse(
      JSON.stringify(boxes(100)).replace(
        '{"nodeType":"mc"}',
        '{"nodeType":"mc","children":[{"nodeType":"cb"}]}',
      ),
    ) as never;
    history.submit(0, [{ op: 'insert', parent: '^ah', node: deepest }], 1n);
    history.submit(
      0,
      [{ op: 'replace', id: 'n:0:1:100', set: { content: nested(300) } }, { op: 'commit' }],
      1n,
    );
    const text = exportTree(history.tree(0), history.payload);
    const again = referenceHistory();
    again.submit(0, [{ op: 'import', name: null, export: text }], 0n);
    expect(exportTree(again.tree(0), again.payload)).toBe(text);
  },
);

test(
  'either all steps of a command take effect, in one frame, or none does',
  { tags: ['record§1:frame'] },
  () => {
    const history = started();
    expect(codeOf(() => history.submit(0, [block('a'), block('b'), block('a')], 1n))).toBe('E_NODE_EXISTS');
    expect(history.tree(0).ids).toEqual(['root', 'sys', 'seq', 'ah']);
    const { seq, events } = history.submit(
      0,
      [block('a'), { op: 'commit' }, { op: 'name', name: 'first' }],
      1n,
    );
    expect([seq, events.map(({ type }) => type)]).toEqual([
      1,
      ['NodeInserted', 'TurnSealed', 'SnapshotCommitted', 'PositionNamed'],
    ]);
    expect(history.name('first')).toEqual({ branchId: 0, seq: 1 });
  },
);

test('a name given after a commit belongs to the commit', { tags: ['context-tree§5:positions'] }, () => {
  const history = started();
  history.submit(0, [block('a'), { op: 'commit' }], 1n);
  history.submit(0, [{ op: 'name', name: 'then' }], 1n);
  expect(history.name('then')).toEqual({ branchId: 0, seq: 1 });
});

test(
  'generated ids name branch, cycle and index, consist of letters, digits and `: _ -`, and avoid ids already taken',
  { tags: ['context-tree§2:ids'] },
  () => {
    const history = started();
    history.submit(
      0,
      [block('n:0:1:1'), { op: 'insert', parent: '^ah', node: { nodeType: 'cb' } }, { op: 'commit' }],
      1n,
    );
    expect(history.tree(0).ids).toEqual(['root', 'sys', 'seq', 't:0:1', 'n:0:1:1', 'n:0:1:1-', 'ah']);
    const fork = history.fork(0, 1, 'f');
    history.submit(fork, [{ op: 'insert', parent: '^ah', node: { nodeType: 'cb' } }, { op: 'commit' }], 1n);
    expect(history.tree(fork).ids).toContain(`n:${fork}:2:0`);
  },
);

test(
  'a step that brings a time keeps it if it is later than the newest time, else gets the newest time + 1',
  { tags: ['context-tree§9:times-and-ids'] },
  () => {
    const history = started();
    const at = (ns: bigint): Step => ({ ...block(`at-${ns}`), at_ns: ns }) as Step;
    history.submit(0, [at(0n), at(7n), at(3n), { op: 'commit', at_ns: 0n }], 1_000_000n);
    expect(
      history
        .tree(0)
        .headers.slice(3, 7)
        .map(({ id, created_at_ns }) => [id, created_at_ns]),
    ).toEqual([
      ['t:0:1', 9n],
      ['at-0', 1n],
      ['at-7', 7n],
      ['at-3', 8n],
    ]);
  },
);

const command = (steps: readonly Step[]): Command => ({
  id: 'c',
  history: 'h-reference',
  branchId: 0,
  by: { actor: 'ann' },
  steps: [...steps],
});

test(
  'a repeated command gets its frame, and a different command with the same id is refused',
  { tags: ['record§3:commands-remembered'] },
  () => {
    const history = started();
    const first = command([block('a')]);
    const lookups = { ...history.sources.lookups, command: () => ({ seq: 7, digest: commandDigest(first) }) };
    const sources = { ...history.sources, lookups };
    expect(decide(history.state, first, 1n, sources)).toEqual({ branchId: 0, events: [], repeats: 7 });
    expect(codeOf(() => decide(history.state, command([block('b')]), 1n, sources))).toBe('E_COMMAND_REUSED');
  },
);

test(
  'a decision that lacks a lookup asks for it and leaves the state unchanged',
  { tags: ['record§3'] },
  async () => {
    const history = started();
    const steps = [
      block('a'),
      { op: 'insert', parent: '^ah', node: { nodeType: 'cb' } },
      { op: 'commit' },
    ] as const;
    const ids = missingKind<string>('ids');
    const fetched: string[] = [];
    const lookups = {
      ...history.sources.lookups,
      idTaken(id: string) {
        if (!fetched.includes(id)) throw missing(ids, [id]);
        return history.sources.lookups.idTaken(id);
      },
    };
    const decided = await resume(
      () => decide(history.state, command(steps), 1n, { ...history.sources, lookups }),
      fetching(ids, (needs) => {
        expect(history.state.loadedBranches.get(0)?.tree.counts.nodes).toBe(4);
        fetched.push(...needs);
      }),
    );
    expect(fetched).toEqual(['a', 'n:0:1:1', 't:0:1']);
    expect(decided).toEqual(decide(history.state, command(steps), 1n, history.sources));
  },
);

test('a command that expects another newest frame is refused as a conflict', { tags: ['record§3'] }, () => {
  const history = started();
  expect(
    codeOf(() => decide(history.state, { ...command([block('a')]), expected: 4 }, 1n, history.sources)),
  ).toBe('E_CONFLICT');
});

test(
  'the id of a history derives from its name, or without a name from the command',
  { tags: ['record§3:repeated-start'] },
  () => {
    expect(historyId('demo', 'a')).toBe(historyId('demo', 'b'));
    expect(historyId(null, 'a')).not.toBe(historyId(null, 'b'));
    expect(historyId('demo', 'a')).toMatch(/^h[a-z2-7]{20}$/);
  },
);

test.each<[unknown, string]>([
  [null, 'the command'],
  [{}, 'id'],
  [{ ...command([]), steps: [] }, 'steps'],
  [{ ...command([]), steps: [{ op: 'dance' }] }, 'steps.0.op'],
  [{ ...command([block('a')]), by: { recorder: 'x', actor: 'y' } }, 'by'],
  [{ ...command([block('a')]), branchId: -1 }, 'branchId'],
])(
  'a malformed command is refused with the path of its fault',
  { tags: ['context-tree§8:codes'] },
  (value, where) => {
    expect(() => parseCommand(value)).toThrow(
      expect.objectContaining({ code: 'E_COMMAND_INVALID', detail: { at: where } }),
    );
  },
);

test('a decision asks for all missing payloads at once and changes nothing', { tags: ['record§3'] }, () => {
  const history = started();
  history.submit(0, [block('a', { content: 'a' }), block('b', { content: 'b' }), { op: 'commit' }], 1n);
  history.submit(0, [{ op: 'insert', parent: 't:0:1', node: { id: 'late', nodeType: 'cb', offset: 1 } }], 1n);
  const away = (ref: { seq: number; index: number }): never => {
    throw missing(PAYLOADS, [ref]);
  };
  history.state.loadedBranches.delete(0);
  const sources = { ...history.sources, payload: away };
  let needed: unknown;
  try {
    decide(history.state, command([{ op: 'commit' }]), 2n, sources);
  } catch (error) {
    needed = error;
  }
  expect(isMissing(needed, PAYLOADS) && needed.needs).toEqual(
    expect.arrayContaining([
      { seq: 1, index: 0 },
      { seq: 1, index: 1 },
      { seq: 2, index: 0 },
    ]),
  );
  expect(
    decide(history.state, command([{ op: 'commit' }]), 2n, history.sources).events.map(({ type }) => type),
  ).toEqual(['InterventionRecorded', 'SnapshotCommitted']);
});

test(
  'a command has at most one commit, followed by names and notes only, since the snapshot is the position after its frame',
  { tags: ['context-tree§5:positions'] },
  () => {
    const history = started();
    const run = (...steps: readonly Step[]): string => codeOf(() => history.submit(0, steps, 1n));
    expect(run({ op: 'commit' }, { op: 'commit' })).toBe('E_COMMAND_INVALID');
    expect(run({ op: 'commit' }, block('late'))).toBe('E_COMMAND_INVALID');
    expect(run({ op: 'commit' }, { op: 'name', name: 'first' }, { op: 'annotate', note: 'good' })).toBe(
      'taken',
    );
  },
);

test(
  'a move, like an insertion, nests containers at most 100 deep, counting those inside the moved container',
  { tags: ['context-tree§3'] },
  () => {
    const history = started();
    const nested = (name: string, depth: number): never => {
      let node: object = { id: `${name}${depth}`, nodeType: 'mc' };
      for (let i = depth - 1; i > 0; i--) node = { id: `${name}${i}`, nodeType: 'mc', children: [node] };
      return node as never;
    };
    const insert = (parent: string, node: object): Step => ({ op: 'insert', parent, node: node as never });
    history.submit(0, [insert('^sys', nested('a', 60))], 1n);
    history.submit(0, [insert('^sys', nested('b', 40)), insert('^sys', nested('c', 41))], 1n);
    const move = (id: string, parent: string) =>
      codeOf(() => history.submit(0, [{ op: 'move', id, parent }], 2n));
    expect([move('c1', 'a60'), move('b1', 'a60'), move('c41', 'b40'), move('c40', 'a60')]).toEqual([
      'E_INPUT_TOO_DEEP',
      'taken',
      'E_INPUT_TOO_DEEP',
      'taken',
    ]);
    // A block is no level: it may lie in the deepest container, and no container beside it.
    history.submit(0, [block('x')], 3n);
    history.submit(0, [insert('^sys', { id: 'm', nodeType: 'mc' })], 3n);
    expect([move('m', 'b40'), move('x', 'b40')]).toEqual(['E_INPUT_TOO_DEEP', 'taken']);
    expect(exportTree(history.tree(0), history.payload)).toContain('"b40"');
  },
);

test(
  'a history that is salvaged records from which history and frame it goes on',
  { tags: ['record§2:salvage'] },
  () => {
    const source = started();
    source.submit(0, [block('a'), { op: 'commit' }], 1n);
    const text = exportTree(source.tree(0), source.payload);
    const salvaged = { history: 'h-damaged', seq: 7 };
    const history = referenceHistory();
    history.submit(0, [{ op: 'import', name: null, export: text, salvaged }], 0n);
    expect(history.frames[0]?.body.events[0]).toMatchObject({ type: 'HistoryStarted', salvaged });
  },
);
