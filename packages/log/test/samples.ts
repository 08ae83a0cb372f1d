import { fromHex, sha256 } from '@stemma/canonical';
import type { Body, Envelope, StemmaEvent } from '@stemma/events';

const node = {
  id: 'block-1',
  nodeType: 'mb',
  offset: 1,
  ttl: 3,
  priority: 0,
  cycle: 4,
  created_at_ns: 1_724_670_000_000_000_001n,
  creation_index: 7,
  role: 'user',
  kind: 'text',
  content: { text: 'naïve 🚀 日本', list: [1, -1, 0.5, 1e300, null, true] },
  data_source: 'search',
};
const hash = (name: string): Uint8Array => sha256(name);

/** One event of every type, with what is hard to write among its values. */
export const SAMPLES: readonly StemmaEvent[] = [
  {
    type: 'HistoryStarted',
    name: 'a-name',
    ids: { root: 'root', sys: '^sys', seq: '^seq', ah: '^ah' },
    thread: 'full',
    cycle: 0,
    source: { format: 'openai-chat@1', sha256: 'ab'.repeat(32) },
    salvaged: null,
  },
  { type: 'BranchStarted', how: 'rollback', parent: 0, at: 12, name: 'main', abandoned: null },
  { type: 'NodeInserted', parent: '^ah', node, expires: 8 },
  {
    type: 'NodeImported',
    parent: null,
    node: { ...node, id: 'root', nodeType: 'mroot' },
    expires: null,
    ordinal: 2,
  },
  { type: 'NodeReplaced', id: 'block-1', fields: ['content'], payload: { content: '', data_x: [{}] } },
  { type: 'NodeMoved', id: 'block-1', parent: '^sys', expires: [{ id: 'block-1', expires: null }] },
  { type: 'NodeRemoved', id: 'block-1', subtree: ['block-2', 'block-3'] },
  { type: 'NodeExpired', id: 'block-1' },
  { type: 'NodeCascaded', id: 'block-2', why: 'contained', by: 'block-1' },
  { type: 'NodePruned', id: 'block-1', rank: 3, rule: 'max_blocks' },
  { type: 'NodeHeld', id: 'block-1', by: 'block-9' },
  { type: 'TurnSealed', turn: { ...node, id: 'turn-4', nodeType: 'mt' } },
  {
    type: 'SnapshotCommitted',
    cycle: 4,
    treeHash: hash('tree'),
    threadHash: hash('thread'),
    counts: { nodes: 9, blocks: 3, turns: 2 },
  },
  {
    type: 'SnapshotImported',
    cycle: 5,
    treeHash: hash('a'),
    threadHash: hash('b'),
    counts: { nodes: 4, blocks: 0, turns: 0 },
  },
  { type: 'PolicyConfigured', policy: { max_blocks: 10, keep_turns: 2, pins: ['block-1'] } },
  { type: 'PriorityChanged', id: 'block-1', priority: 0.5 },
  { type: 'PositionNamed', name: 'good', branchId: 0, seq: 12 },
  { type: 'PositionAnnotated', branchId: 0, seq: 12, note: 'looked at it' },
  { type: 'LogOpened', log: '0b7e2c9a-0000-4000-8000-000000000000', partitions: 4 },
  { type: 'FormatRaised', version: 2 },
  { type: 'DamageAcknowledged', offset: 4_294_967_296 },
  {
    type: 'InterventionRecorded',
    intervention: 'external_query',
    notes: 'asked at night\nanswered at once',
    content: { question: 'why?', answer: { text: 'naïve 🚀' }, mind: 'markov' },
  },
  {
    type: 'ConfigurationChanged',
    changes: [
      { key: 'active_pool_size', from: null, to: 40 },
      { key: 'seed', from: { n: 0.5 }, to: null },
    ],
  },
  {
    type: 'ObservationRecorded',
    kind: 'selected',
    what: '@c4 .cb',
    branchId: 0,
    seq: 12,
    times: 3,
    first_at: 1_724_670_000_000_000_000n,
    last_at: 1_724_670_000_000_000_002n,
  },
  {
    type: 'ContentRedacted',
    redactions: [
      { rule: 'api_key', node: 'block-1', field: 'content', count: 2 },
      { rule: 'badge', node: null, field: 'notes', count: 1 },
    ],
  },
  { type: 'HistoryErased' },
  { type: 'FrameSealed', payload: { content: 'AAECAwQF' } },
  {
    type: 'CallStarted',
    attemptId: 'call-1',
    branchId: 0,
    seq: 12,
    cycle: 4,
    api: 'openai.chat',
    model: 'gpt-x',
    toolsAt: { seq: 12, index: 3 },
    request: {
      sha256: '00'.repeat(32),
      size: 90,
      base: { seq: 9, index: 2, size: 80, ordinal: 7, frames: [] },
      pieces: [[0, 60], [10], [85, 20]],
      encoding: 'text',
    },
    prompt: { scope: 'run:1', match: 'appended', list: '0f'.repeat(16), brings: ['a1'.repeat(8)] },
    payload: {
      data_parameters: { temperature: 0.5 },
      data_tools: [{ name: 'look' }],
      data_own: 'ten bytes ',
    },
  },
  {
    type: 'CallFinished',
    attemptId: 'call-1',
    status: 'timed out',
    httpStatus: null,
    finishReason: null,
    model: null,
    usage: { input: 10, output: null, cached: 4, cacheWrite: 0, reasoning: null },
    firstByteMs: 12,
    durationMs: 60_000,
    response: null,
    error: { code: 'ETIMEDOUT', message: 'naïve 🚀' },
    payload: { data_answer: { role: 'assistant', content: null } },
  },
];

export const sampleEnvelope = (seq: number): Envelope => ({
  v: 1,
  history: 'hqwertyuiopasdfghjkl',
  seq,
  prev: seq === 0 ? new Uint8Array(32) : hash(`frame ${seq - 1}`),
});

export const sampleBody = (events: readonly StemmaEvent[]): Body<StemmaEvent> => ({
  recorder: 'sample',
  command: 'command-1',
  digest: fromHex('0123456789abcdef'.repeat(4)),
  at: 1_724_670_000_000_000_000n,
  branchId: 0,
  events,
});
