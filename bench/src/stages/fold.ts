import {
  applyFrame,
  commandDigest,
  decide,
  openHistory,
  payloadIn,
  type AppliedFrame,
  type Command,
  type Sources,
} from '@stemma/history';
import { stages } from '@stemma/read-models';
import { openMemoryRowStore, stageRows } from '@stemma/row-store';
import { median } from '../measure.ts';

export type FoldInput = { readonly nodes: readonly number[]; readonly repetitions: number };

/**
 * At so many nodes of a stream: milliseconds of CPU that the read model takes for a frame of one cycle, and for all
 * cycles up to there together.
 */
export type FoldFigures = readonly {
  readonly nodes: number;
  readonly commit: number;
  readonly together: number;
}[];

const HISTORY = 'bench';
const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(13);

const frameOf = (seq: number, steps: Command['steps']): Command => ({
  id: `c${seq}`,
  history: HISTORY,
  branchId: 0,
  by: { recorder: 'bench' },
  steps,
});

/** Cycles of two messages each, so four nodes of the stream with `sealed` and `committed`. */
const cycle = (seq: number): Command =>
  frameOf(seq, [
    {
      op: 'insert',
      parent: '^ah',
      node: { nodeType: 'cb', role: 'user', kind: 'text', content: `${seq} ${TEXT}`, ttl: 5 },
    },
    {
      op: 'insert',
      parent: '^ah',
      node: { nodeType: 'cb', role: 'assistant', kind: 'text', content: `${TEXT} ${seq}`, ttl: 5 },
    },
    { op: 'commit' },
  ]);

/** A history that grows by cycles, and what the read model of stages takes for one at each size. */
export const foldCommits = ({ nodes, repetitions }: FoldInput): Promise<FoldFigures> => {
  const rows = openMemoryRowStore().rows('bench', stages.tables);
  const state = openHistory(HISTORY, 0);
  const frames: AppliedFrame['events'][] = [];
  const sources: Sources = {
    payload: ({ seq, index }) => {
      const event = frames[seq]?.[index];
      return event === undefined ? {} : payloadIn(event);
    },
    position: () => {
      throw new Error('the history has one branch');
    },
    branchTip: () => undefined,
  };
  const lookups = {
    idTaken: () => false,
    nameTaken: () => false,
    command: () => undefined,
    branchNamed: () => undefined,
  };
  let clock = 1_700_000_000_000_000_000n;
  let spent = 0;
  let applied: AppliedFrame | undefined;
  const run = (command: Command): number => {
    const seq = state.next;
    clock += 1_000n;
    const { branchId, events } = decide(state, command, clock, { ...sources, lookups });
    frames.push(events);
    applied = applyFrame(
      state,
      {
        envelope: { v: 1, history: HISTORY, seq, prev: new Uint8Array(32) },
        body: {
          recorder: 'bench',
          command: command.id,
          digest: commandDigest(command),
          at: clock,
          branchId,
          events,
        },
      },
      sources,
    );
    const frame = applied;
    const staged = rows.now((view) => stageRows(view));
    const taken = cpuOf(() => stages.fold(frame, staged, sources.payload));
    spent += taken;
    const expected = rows.now((view) => view.cursor(0));
    const cursor = Uint8Array.of(seq & 255, (seq >> 8) & 255, seq >> 16);
    void rows.commit({ partition: 0, expected, cursor, changes: staged.changes() });
    return taken;
  };
  run(frameOf(0, [{ op: 'start', name: null }]));
  const figures: { nodes: number; commit: number; together: number }[] = [];
  for (const size of nodes) {
    // Two blocks, what expired of an earlier cycle, and two of the commit.
    while (state.next * 5 < size) run(cycle(state.next));
    const together = spent;
    const commits = Array.from({ length: repetitions }, () => run(cycle(state.next)));
    figures.push({ nodes: size, commit: median(commits), together });
  }
  return Promise.resolve(figures);
};

const cpuOf = (work: () => void): number => {
  const { user, system } = process.cpuUsage();
  work();
  const after = process.cpuUsage();
  return (after.user + after.system - user - system) / 1_000;
};
