import { expect, test } from 'vitest';
import {
  affectedIds,
  branchNames,
  changedFields,
  changedIds,
  changesBranch,
  changesTree,
  enteredIds,
  HistoryEvent,
  isOf,
  namedPosition,
  newPayload,
  nodeIn,
  removalBy,
  removedIds,
  type EventCategory,
  type RecordedNode,
} from '../src/index.ts';

const node = (id: string): RecordedNode => ({
  id,
  nodeType: 'cb',
  offset: 0,
  ttl: null,
  priority: 0,
  cycle: 1,
  created_at_ns: 1n,
  creation_index: 0,
});
const hash = new Uint8Array(32);
const snapshot = { cycle: 1, treeHash: hash, threadHash: hash, counts: { nodes: 4, blocks: 0, turns: 0 } };

/** All that is asked of one event; what is left out is nothing. */
type Answers = {
  readonly category: EventCategory;
  readonly node?: string;
  readonly entered?: readonly string[];
  readonly removed?: readonly string[];
  readonly removal?: string;
  readonly changed?: readonly string[];
  readonly fields?: readonly string[];
  readonly payload?: object;
  readonly position?: object;
  readonly branches?: readonly (readonly [string, number])[];
};
type Example<E> = readonly [fact: Omit<E, 'type'>, answers: Answers];

const OWN_BRANCH = 9;

const EXAMPLES: { readonly [E in HistoryEvent as E['type']]: Example<E> } = {
  HistoryStarted: [
    {
      name: null,
      ids: { root: 'r', sys: 's', seq: 'q', ah: 'a' },
      thread: 'full',
      cycle: 0,
      source: null,
      salvaged: null,
    },
    { category: 'start', entered: ['r', 's', 'q', 'a'], branches: [['main', 9]] },
  ],
  BranchStarted: [
    { how: 'rollback', parent: 2, at: 5, name: 'main', abandoned: 'old' },
    {
      category: 'start',
      branches: [
        ['main', 9],
        ['old', 2],
      ],
    },
  ],
  NodeInserted: [
    { parent: 'a', node: node('b1'), expires: null },
    { category: 'tree', node: 'b1', entered: ['b1'] },
  ],
  NodeImported: [
    { parent: null, node: node('b1'), expires: null },
    { category: 'tree', node: 'b1', entered: ['b1'] },
  ],
  NodeReplaced: [
    { id: 'b1', fields: ['content'], payload: { content: 'new', data_x: 1 } },
    { category: 'tree', changed: ['b1'], fields: ['content'], payload: { content: 'new', data_x: 1 } },
  ],
  NodeMoved: [
    { id: 'c1', parent: 's', expires: [{ id: 'b1', expires: 7 }] },
    { category: 'tree', changed: ['c1', 'b1'], fields: ['parent'] },
  ],
  NodeRemoved: [
    { id: 'c1', subtree: ['b1', 'b2'] },
    { category: 'tree', removed: ['c1', 'b1', 'b2'], removal: 'removed' },
  ],
  NodeExpired: [{ id: 'b1' }, { category: 'tree', removed: ['b1'], removal: 'expired' }],
  NodeCascaded: [
    { id: 'b1', why: 'contained', by: 'c1' },
    { category: 'tree', removed: ['b1'], removal: 'cascaded' },
  ],
  NodePruned: [
    { id: 'b1', rank: 0, rule: 'max_blocks' },
    { category: 'tree', removed: ['b1'], removal: 'pruned' },
  ],
  NodeHeld: [
    { id: 'b1', by: 'b2' },
    { category: 'tree', changed: ['b1'], fields: ['ttl'] },
  ],
  TurnSealed: [{ turn: node('t1') }, { category: 'tree', node: 't1', entered: ['t1'] }],
  SnapshotCommitted: [snapshot, { category: 'snapshot' }],
  SnapshotImported: [snapshot, { category: 'snapshot' }],
  PolicyConfigured: [{ policy: null }, { category: 'configuration' }],
  PriorityChanged: [
    { id: 'b1', priority: 2 },
    { category: 'tree', changed: ['b1'], fields: ['priority'] },
  ],
  PositionNamed: [
    { name: 'good', branchId: 0, seq: 3 },
    { category: 'label', position: { type: 'PositionNamed', name: 'good', branchId: 0, seq: 3 } },
  ],
  PositionAnnotated: [{ branchId: 0, seq: 3, note: 'why' }, { category: 'label' }],
  HistoryLabelled: [{ label: 'task', value: 'refund' }, { category: 'label' }],
  CallStarted: [
    {
      attemptId: 'c',
      branchId: 0,
      seq: 3,
      cycle: 1,
      api: 'openai.chat',
      model: null,
      toolsAt: null,
      request: null,
      prompt: null,
      sent: null,
      payload: { data_parameters: {} },
    },
    { category: 'call', payload: { data_parameters: {} } },
  ],
  CallSteered: [
    {
      attemptId: 'c',
      request: null,
      changes: [{ what: 'inserted', node: 'n', seq: 3 }],
      unsteered: null,
      payload: { data_own: 'x' },
    },
    { category: 'call', payload: { data_own: 'x' } },
  ],
  CallHeld: [
    {
      attemptId: 'c',
      branchId: 0,
      seq: 2,
      cycle: 1,
      api: 'other',
      model: null,
      breakpoints: ['b1'],
      until: 5,
      then: 'abort',
    },
    { category: 'call' },
  ],
  CallReleased: [{ attemptId: 'c', how: 'aborted', message: 'no' }, { category: 'call' }],
  CallFinished: [
    {
      attemptId: 'c',
      status: 'answered',
      httpStatus: 200,
      finishReason: 'stop',
      model: null,
      usage: null,
      choices: 1,
      sentAt: null,
      firstByteMs: 1,
      durationMs: 2,
      response: null,
      head: null,
      error: null,
      payload: {},
    },
    { category: 'call', payload: {} },
  ],
  CallReassigned: [
    { attemptId: 'c', to: { history: 'h', branchId: 0, attemptId: 'd' }, prompt: null },
    { category: 'correction' },
  ],
  ConversationLinked: [{ branchId: 0, parent: null }, { category: 'correction' }],
  RunRequested: [
    { rounds: 3, checkpointEvery: null, tokens: null, cost: null, seconds: null },
    { category: 'run' },
  ],
  RunTaken: [{ run: 'r', runner: 'one', round: 2 }, { category: 'run' }],
  RunEnded: [
    { run: 'r', how: 'rounds', why: 'all 3 rounds are done', code: null, rounds: 3 },
    { category: 'run' },
  ],
  RunRecorded: [
    {
      run: 'r',
      directory: '/work',
      commit: { id: '0'.repeat(40), changed: false },
      variables: ['OPENAI_BASE_URL'],
      startedAt: 1,
      endedAt: 2,
      end: { exitCode: 0, signal: null },
      payload: { data_command: ['python', 'agent.py'] },
    },
    { category: 'run', payload: { data_command: ['python', 'agent.py'] } },
  ],
  RerunEnded: [
    {
      rerun: 'rerun-1',
      of: 'r',
      directory: '/work',
      commit: null,
      startedAt: 1,
      endedAt: 2,
      end: { exitCode: null, signal: 'SIGTERM' },
      exit: 5,
      counts: { same: 1, otherOrder: 0, bound: 0, differs: 1, extra: 0, missing: 0, live: 0, notKept: 0 },
      bindings: [],
      difference: { label: '@c2', message: 3, cause: 'tool result', node: 'n:0:2:0' },
      payload: { data_command: ['python', 'agent.py'] },
    },
    { category: 'run', payload: { data_command: ['python', 'agent.py'] } },
  ],
  EffectRecorded: [
    {
      run: 'r',
      startedAt: 1,
      endedAt: 2,
      effect: {
        ...{ what: 'file', snapshot: 0, part: 0, parts: 1, since: null, from: null, until: null },
        directory: '/work',
        files: [],
        repositories: [],
        left: 0,
      },
      payload: { data_contents: [] },
    },
    { category: 'run', payload: { data_contents: [] } },
  ],
  ProviderCallRecorded: [
    {
      attemptId: 'provider-1',
      run: 'r',
      method: 'POST',
      model: 'e-1',
      sent: { at: 1, origin: null, path: '/v1/embeddings', contentType: null, coding: null },
      ...{ status: 'answered', httpStatus: 200, firstByteMs: 1, durationMs: 2, usage: null },
      ...{ request: null, response: null, head: null, error: null },
      payload: { data_request: '{}' },
    },
    { category: 'call', payload: { data_request: '{}' } },
  ],
  ImportRecorded: [{ format: 'claude-code', summary: { calls: 1 } }, { category: 'import' }],
  ImportLinked: [
    { branchId: 0, parent: { history: 'h', branchId: 0, attemptId: 'call-0' }, why: 'said' },
    { category: 'import' },
  ],
  VectorsRecorded: [
    {
      embedder: 'outside:mine',
      dimension: 1,
      texts: ['0'.repeat(64)],
      payload: { data_vectors: 'AACAPw==' },
    },
    { category: 'vectors', payload: { data_vectors: 'AACAPw==' } },
  ],
  InterventionRecorded: [{ intervention: 'edit', notes: '', content: {} }, { category: 'intervention' }],
  ConfigurationChanged: [{ changes: [{ key: 'k', from: null, to: 1 }] }, { category: 'configuration' }],
  ObservationRecorded: [
    { kind: 'opened', what: '', branchId: 0, seq: 3, times: 1, first_at: 1n, last_at: 1n },
    { category: 'observation' },
  ],
  ContentRedacted: [
    { redactions: [{ rule: 'api_key', node: 'b1', field: 'content', count: 2 }] },
    { category: 'redaction' },
  ],
  HistoryErased: [{}, { category: 'erasure' }],
};

const CATEGORIES: readonly EventCategory[] = [
  'start',
  'tree',
  'snapshot',
  'configuration',
  'label',
  'intervention',
  'observation',
  'call',
  'run',
  'vectors',
  'correction',
  'import',
  'redaction',
  'erasure',
];

test.each(Object.entries(EXAMPLES))(
  'every fact function answers for the event %s',
  (type, [fact, expected]) => {
    const event = HistoryEvent.parse({ type, ...fact });
    const { category, entered = [], removed = [], changed = [] } = expected;

    expect({
      categories: CATEGORIES.filter((each) => isOf(event, each)),
      node: nodeIn(event)?.id ?? null,
      entered: enteredIds(event),
      removed: removedIds(event),
      removal: removalBy(event),
      changed: changedIds(event),
      fields: changedFields(event),
      payload: newPayload(event),
      affected: affectedIds(event),
      position: namedPosition(event),
      branches: branchNames(event, OWN_BRANCH),
      changesTree: changesTree(event),
      changesBranch: changesBranch(event),
    }).toEqual({
      categories: [category],
      node: expected.node ?? null,
      entered,
      removed,
      removal: expected.removal ?? null,
      changed,
      fields: expected.fields ?? [],
      payload: expected.payload ?? null,
      affected: [...entered, ...removed, ...changed],
      position: expected.position ?? null,
      branches: expected.branches ?? [],
      changesTree: ['start', 'tree', 'snapshot'].includes(category),
      changesBranch: ['start', 'tree', 'snapshot', 'configuration'].includes(category),
    });
  },
);

test('a fork without a name names no branch, and does not take the name of its parent', () => {
  const event = HistoryEvent.parse({
    type: 'BranchStarted',
    how: 'fork',
    parent: 0,
    at: 1,
    name: null,
    abandoned: null,
  });

  expect(branchNames(event, OWN_BRANCH)).toEqual([]);
});
