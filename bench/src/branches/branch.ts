import { historyId, type Step } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { median } from '../measure.ts';

const NAME = 'branches';
const HISTORY = historyId(NAME, '');

export type BranchInput = {
  readonly directory: string;
  readonly blocks: number;
  readonly repetitions: number;
};

/** Medians in milliseconds: until it is durable, until a read shows it, and the processor's time for both. */
export type Branched = { readonly durable: number; readonly read: number; readonly cpu: number };

export type BranchFigures = {
  readonly forkNewest: Branched;
  readonly forkOld: Branched;
  readonly rollbackNewest: Branched;
  readonly rollbackOld: Branched;
  /** The first command on such a fork takes the tree in. */
  readonly firstWrite: Branched;
};

const BLOCKS_PER_CYCLE = 100;
/** Each of these takes a whole tree into memory. */
const FIRST_WRITES = 3;

type Acts = () => { readonly branchId: number; readonly step: Step };

/** A history whose tree holds this many blocks, all alive. */
const record = async (home: Home, blocks: number): Promise<number> => {
  const submit = (id: string, steps: Step[]): Promise<unknown> =>
    home.submit({ id, history: HISTORY, branchId: 0, by: { recorder: 'bench' }, steps });
  await submit('start', [{ op: 'start', name: NAME }]);
  let frames = 0;
  for (let made = 0; made < blocks; frames++) {
    const count = Math.min(BLOCKS_PER_CYCLE, Math.ceil(blocks / 4), blocks - made);
    const nodes = Array.from({ length: count }, (_, i) => ({
      nodeType: 'cb',
      role: 'user',
      kind: 'text',
      content: `block ${made + i} of a history that is forked`,
    }));
    const [node, ...siblings] = nodes;
    await submit(`cycle-${made}`, [
      { op: 'insert', parent: '^ah', node: node ?? {}, siblings },
      { op: 'commit' },
    ]);
    made += count;
  }
  return frames;
};

/** Forks and rolls back a history with a large tree, at its newest position and far back. */
export const branch = async ({ directory, blocks, repetitions }: BranchInput): Promise<BranchFigures> => {
  const home = await openHome({ directory, create: true });
  const newest = await record(home, blocks);
  await home.find(NAME);
  let count = 0;
  const measured = async (steps: Acts, times = repetitions): Promise<Branched> => {
    const [durable, read, cpu]: [number[], number[], number[]] = [[], [], []];
    // The first of each is warmed up and not counted.
    for (let i = 0; i <= times; i++) {
      const { branchId, step } = steps();
      const used = process.cpuUsage();
      const started = performance.now();
      const { branchId: startedBranchId } = await home.submit({
        id: `act-${count++}`,
        history: HISTORY,
        branchId,
        by: { actor: 'bench' },
        notes: '',
        steps: [step],
      });
      const answered = performance.now();
      await home.position({ history: HISTORY, branchId: startedBranchId, branch: '' });
      const seen = performance.now();
      const { user, system } = process.cpuUsage(used);
      last = startedBranchId;
      if (i === 0) continue;
      durable.push(answered - started);
      read.push(seen - started);
      cpu.push((user + system) / 1000);
    }
    return { durable: median(durable), read: median(read), cpu: median(cpu) };
  };
  let last = 0;
  const fork = (seq: number) => (): { branchId: number; step: Step } => ({
    branchId: 0,
    step: { op: 'fork', at: { branchId: 0, seq } },
  });
  const back = (seq: number) => (): { branchId: number; step: Step } => ({
    branchId: 0,
    step: { op: 'rollback', to: { branchId: 0, seq } },
  });
  const old = Math.max(1, Math.floor(newest / 3));
  const forkNewest = await measured(fork(newest));
  const forkOld = await measured(fork(old));
  const rollbackNewest = await measured(back(newest));
  const rollbackOld = await measured(back(old));
  const forks: number[] = [];
  for (let i = 0; i <= FIRST_WRITES; i++) {
    await home.submit({
      id: `written-${i}`,
      history: HISTORY,
      branchId: 0,
      by: { actor: 'bench' },
      notes: '',
      steps: [fork(newest)().step],
    });
    forks.push((await home.read.history(HISTORY)).branches.at(-1)?.branchId ?? 0);
  }
  const firstWrite = await measured(
    () => ({
      branchId: forks.shift() ?? last,
      step: { op: 'inject', text: 'hello' },
    }),
    FIRST_WRITES,
  );
  await home.close();
  return { forkNewest, forkOld, rollbackNewest, rollbackOld, firstWrite };
};
