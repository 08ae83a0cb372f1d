import { openCommandHandler } from '@stemma/command-handler';
import { exportTree } from '@stemma/context-tree';
import { fail, isStemmaError } from '@stemma/errors';
import { historyId, type Command } from '@stemma/history';
import { readFlatTree, readTipSeq } from '@stemma/history-store';
import { openMemoryLog, type EventLog } from '@stemma/log';
import { openProjector, type Projector } from '@stemma/projector';
import { findFrameSummary, listBranches, listFrameSummaries } from '@stemma/read-models';
import { openMemoryRowStore } from '@stemma/row-store';
import { viewOf, positionOf } from '../../src/read.ts';
import { commandDrawnBy, drawFrom, type Situation } from './random-commands.ts';

/** Histories in a log in memory with their rows, and the commands that made them. */
export type RecordedHistories = {
  readonly log: EventLog;
  readonly projector: Projector;
  readonly histories: readonly string[];
  readonly commands: readonly Command[];
};

/** No content of these histories is large enough for a store of its own. */
const NO_CONTENTS: Parameters<typeof openCommandHandler>[0]['contents'] = {
  missing: async (refs) => refs,
  get: (ref) => Promise.reject(fail('E_CONTENT_MISSING', `there is no content ${ref.sha256}`)),
  put: () => Promise.reject(fail('E_CONTENT_MISSING', 'no content is kept')),
  async *list() {},
  close: () => Promise.resolve(),
};

const BEGINNING = 1_700_000_000_000_000_000n;

type Plan = {
  readonly name: string;
  readonly thread: 'full' | 'pre';
  readonly commands: number;
  readonly seed: number;
};

const PLANS: readonly Plan[] = [
  { name: 'alpha', thread: 'full', commands: 110, seed: 3 },
  { name: 'beta', thread: 'pre', commands: 110, seed: 4 },
  { name: 'delta', thread: 'full', commands: 60, seed: 9 },
  { name: 'epsilon', thread: 'pre', commands: 90, seed: 21 },
  { name: 'zeta', thread: 'full', commands: 90, seed: 34 },
];

let recorded: Promise<RecordedHistories> | undefined;

/** Random histories, one that was imported, and one that was only started: the same for every test. */
export const recordedHistories = (): Promise<RecordedHistories> => (recorded ??= record());

const record = async (): Promise<RecordedHistories> => {
  const log = await openMemoryLog({ partitions: 2 });
  const contents = NO_CONTENTS;
  const projector = openProjector({ log, contents, store: openMemoryRowStore() });
  const commands: Command[] = [];
  const clock = (): bigint => BEGINNING + BigInt(commands.length) * 1_234_567n;
  const handler = openCommandHandler({ log, contents, rows: projector, clock, accepted: () => undefined });
  const submit = async (command: Command): Promise<void> => {
    try {
      await handler.submit(command);
      commands.push(command);
      await projector.catchUp();
    } catch (error) {
      if (!isStemmaError(error) || error.code === 'E_INTERNAL') throw error;
    }
  };
  const begin = (name: string, step: Command['steps'][number]): Promise<void> =>
    submit({
      id: `begin ${name}`,
      history: historyId(name, ''),
      branchId: 0,
      by: { recorder: 'test' },
      steps: [step],
    });

  for (const { name, thread } of PLANS) await begin(name, { op: 'start', name, thread });
  const draws = PLANS.map(({ seed }) => drawFrom(seed));
  for (let i = 0; PLANS.some(({ commands: count }) => i < count); i++)
    for (const [k, plan] of PLANS.entries()) {
      const draw = draws[k];
      if (draw === undefined || i >= plan.commands) continue;
      const history = historyId(plan.name, '');
      const at = await projector.read((view): Situation => {
        const branchIds = listBranches(view, history).map(({ branchId }) => branchId);
        const branchId = (draw(3) === 0 ? draw.of(branchIds) : branchIds.at(-1)) ?? 0;
        const positions = listFrameSummaries(view, history)
          .filter(({ observed }) => !observed)
          .map((frame) => ({ branchId: frame.branchId, seq: frame.seq }));
        const seq = readTipSeq(view, history, branchId);
        return { branchId, seq, tree: readFlatTree(view, history, branchId, seq), positions };
      });
      await submit(commandDrawnBy(draw, history, `${plan.name} ${i}`, at));
    }

  const alpha = historyId('alpha', '');
  const branchRef = { history: alpha, branchId: 0, branch: alpha };
  const { tree, payloads } = await viewOf(
    projector,
    await projector.read((view) => positionOf(view, branchRef, '@c2')),
  );
  await begin('gamma', { op: 'import', name: 'gamma', export: exportTree(tree, payloads) });
  const gamma = historyId('gamma', '');
  const draw = drawFrom(5);
  for (let i = 0; i < 12; i++) {
    const at = await projector.read((view): Situation => {
      const seq = readTipSeq(view, gamma, 0);
      const { branchId } = findFrameSummary(view, gamma, seq);
      return { branchId: 0, seq, tree: readFlatTree(view, gamma, 0, seq), positions: [{ branchId, seq }] };
    });
    await submit(commandDrawnBy(draw, gamma, `gamma ${i}`, at));
  }
  await begin('omega', { op: 'start', name: 'omega' });
  await handler.close();
  return {
    log,
    projector,
    histories: [...PLANS.map(({ name }) => name), 'gamma', 'omega'].map((name) => historyId(name, '')),
    commands,
  };
};
