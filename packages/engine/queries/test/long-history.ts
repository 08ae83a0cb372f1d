import type { HistoryEvent } from '@stemma/events';
import {
  applyFrame,
  commandDigest,
  decide,
  openHistory,
  payloadIn,
  type Command,
  type Step,
} from '@stemma/history';
import { HISTORY_STORE } from '@stemma/history-store';
import type { Projector } from '@stemma/projector';
import { ALL_FOLDS, audit, diffs, loadingTokenizer, sizes } from '@stemma/read-models';
import { openMemoryRowStore, stageRows, type RowReader } from '@stemma/row-store';
import { HISTORY, payloadsInMemory } from '@stemma/test-kit';

/** A history of many cycles with its rows, kept without copies; and how often a whole position was read of it. */
export type LongHistory = { readonly projector: Projector; readonly reads: { rows: number } };

/** Frames a batch of rows: memory rows are slow to commit. */
const BATCH = 500;

/** Every cycle brings a question and an answer; every tenth a result that expires after three more. */
export const longHistory = async (cycles: number): Promise<LongHistory> => {
  await loadingTokenizer.fetch([]);
  const rows = openMemoryRowStore().rows(
    'test',
    ALL_FOLDS.flatMap(({ tables }) => tables),
  );
  const state = openHistory(HISTORY, 0);
  const frames: (readonly HistoryEvent[])[] = [];
  const payload = ({ seq, index }: { seq: number; index: number }) => payloadIn(frames[seq]![index]!);
  const lookups = {
    idTaken: () => false,
    nameTaken: () => false,
    command: () => undefined,
    branchNamed: () => undefined,
  };
  const alone = (): never => {
    throw new Error('there is one branch');
  };
  const sources = { payload, lookups, position: alone, branchTip: alone };
  let staged = rows.now((view) => stageRows(view));
  const commit = (seq: number): void => {
    const cursor = Uint8Array.of(seq & 255, (seq >> 8) & 255, seq >> 16);
    void rows.commit({
      partition: 0,
      expected: rows.now((view) => view.cursor(0)),
      cursor,
      changes: staged.changes(),
    });
    staged = rows.now((view) => stageRows(view));
  };
  const submit = (steps: readonly Step[], seq: number): void => {
    const command: Command = {
      id: `c${seq}`,
      history: HISTORY,
      branchId: 0,
      by: { recorder: 'test' },
      steps: [...steps],
    };
    const at = 1_700_000_000_000_000_000n + BigInt(seq) * 1_000_000n;
    const decided = decide(state, command, at, sources);
    frames.push(decided.events);
    const body = {
      recorder: 'test',
      command: command.id,
      digest: commandDigest(command),
      at,
      ...decided,
    };
    const envelope = { v: 1, history: HISTORY, seq, prev: new Uint8Array(32) };
    const applied = applyFrame(state, { envelope, body }, sources);
    for (const model of [HISTORY_STORE, audit, sizes, diffs]) model.fold(applied, staged, sources.payload);
    if (seq % BATCH === 0) commit(seq);
  };
  submit([{ op: 'start', name: null }], 0);
  const block = (id: string, role: string, more: object = {}): Step => ({
    op: 'insert',
    parent: '^ah',
    node: { id, nodeType: 'cb', role, kind: 'text', content: id, ...more },
  });
  for (let cycle = 1; cycle <= cycles; cycle++)
    submit(
      [
        block(`q${cycle}`, 'user'),
        block(`a${cycle}`, 'assistant'),
        ...(cycle % 10 === 0 ? [block(`r${cycle}`, 'tool', { ttl: 3 })] : []),
        { op: 'commit' },
      ],
      cycle,
    );
  commit(cycles + 1);
  const reads = { rows: 0 };
  const counted = (view: RowReader): RowReader => ({
    get: (table, key) => view.get(table, key),
    range: (table, range) => {
      const found = view.range(table, range);
      reads.rows += found.length;
      return found;
    },
  });
  const projector = {
    read: (fn: (view: RowReader) => unknown) => rows.now((view) => fn(counted(view))),
    payloads: payloadsInMemory((seq) => frames[seq] ?? [], payload),
  } as unknown as Projector;
  return { projector, reads };
};
