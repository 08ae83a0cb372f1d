import { openDirectoryContents } from '@stemma/contents';
import { providerThread } from '@stemma/context-tree';
import { historyId, payloadIn } from '@stemma/history';
import { readNode } from '@stemma/history-store';
import { openHome, type Home } from '@stemma/home';
import { openEmbeddedLog } from '@stemma/log-embedded';
import { openProjector } from '@stemma/projector';
import { resolvePosition } from '@stemma/queries';
import { openLmdbRowStore } from '@stemma/row-store-lmdb';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { spread, timed } from '../measure.ts';
import { lookedAt, said } from './conversation.ts';
import {
  EARLIER,
  ofTurns,
  onDisk,
  WARM_TURNS,
  type Growth,
  type GrowthInput,
  type TurnSpreads,
} from './figures.ts';

const name = 'conversation';
const history = historyId(name, '');

/** Records a conversation: a turn is one command that inserts both messages and commits. Gives the milliseconds of each. */
const record = async (home: Home, title: string, count: number): Promise<readonly number[]> => {
  const history = historyId(title, '');
  const by = { recorder: 'bench' };
  const turns: number[] = [];
  await home.submit({
    id: 'start',
    history,
    branchId: 0,
    by,
    steps: [{ op: 'start', name: title }],
  });
  for (let turn = 1; turn <= count; turn += 1) {
    const { question, answer } = said(turn);
    const block = (id: string, role: string, content: string) =>
      ({ op: 'insert', parent: '^ah', node: { id, nodeType: 'cb', role, kind: 'text', content } }) as const;
    const { ms } = await timed(() =>
      home.submit({
        id: `turn-${turn}`,
        history,
        branchId: 0,
        by,
        steps: [
          block(`q${turn}`, 'user', question),
          block(`a${turn}`, 'assistant', answer),
          { op: 'commit' },
        ],
      }),
    );
    turns.push(ms);
  }
  return turns;
};

/** The conversation in a home that is new and holds nothing else. */
const recordInNewHome = async (directory: string, turns: number): Promise<readonly number[]> => {
  const home = await openHome({ directory, create: true });
  const measured = await record(home, name, turns);
  // A question is answered when all rows are written.
  await home.read.histories();
  await home.close();
  return measured;
};

/** The conversation in a home that has recorded others: its threads are there, and the code that they run is compiled. */
export const growInRunningHome = async ({ directory, turns }: GrowthInput): Promise<TurnSpreads> => {
  const home = await openHome({ directory, create: true });
  for (let number = 1; number <= EARLIER.conversations; number += 1)
    await record(home, `earlier-${number}`, EARLIER.turns);
  const measured = await record(home, name, turns);
  await home.close();
  return ofTurns(measured);
};

/** Milliseconds for the whole thread of each snapshot, every content included. */
const readSnapshots = async (input: GrowthInput): Promise<readonly number[]> => {
  const home = await openHome({ directory: input.directory });
  const branchRef = await home.find(name);
  const reads: number[] = [];
  const order = lookedAt(input.turns, 2 * input.reads);
  for (const [i, turn] of order.entries()) {
    const { ms, value } = await timed(async () => {
      const view = await home.read.view(await home.position(branchRef, `@c${turn}`));
      return providerThread(view.tree, view.payloads, view.thread);
    });
    if (value.length !== 2 * turn) throw new Error(`turn ${turn} gave ${value.length} messages`);
    // The first half are others, so that both systems are warm.
    if (i >= order.length / 2) reads.push(ms);
  }
  await home.close();
  return reads;
};

/** Asks for the stages of the newest snapshot and the cause of a node: from then on their rows are kept too. */
const askForAll = async (input: GrowthInput): Promise<void> => {
  const home = await openHome({ directory: input.directory });
  const newest = await home.position(await home.find(name), `@c${input.turns}`);
  await home.queries.stages.compile(newest);
  await home.queries.causes.why(newest, 'q1');
  await home.close();
};

type NodeReads = { readonly rows: readonly number[]; readonly contents: readonly number[] };

/** Milliseconds for one node of each snapshot: its row, and then its content, each node read once and each frame too. */
const readNodes = async (input: GrowthInput): Promise<NodeReads> => {
  const log = await openEmbeddedLog({ directory: join(input.directory, 'log') });
  const contents = await openDirectoryContents(join(input.directory, 'contents'));
  const store = openLmdbRowStore({ directory: join(input.directory, 'rows') });
  const order = lookedAt(input.turns, input.turns);
  const read = async (prefix: 'q' | 'a'): Promise<NodeReads> => {
    const rows: number[] = [];
    const whole: number[] = [];
    // It has no frame in memory yet.
    const projector = openProjector({ log, contents, store });
    for (const id of order) {
      const at = Math.min(input.turns, id + 7);
      const started = performance.now();
      const found = await projector.read((view) => {
        const { branchId, seq } = resolvePosition(view, history, 0, { kind: 'c', cycle: at });
        return readNode(view, history, branchId, seq, `${prefix}${id}`);
      });
      rows.push(performance.now() - started);
      if (found?.kind !== 'node') throw new Error(`${prefix}${id} is not in the snapshot of cycle ${at}`);
      const { payload } = found.record;
      const event = (await projector.payloads.events(history, payload.seq))[payload.index];
      const content = event === undefined ? undefined : payloadIn(event).content;
      whole.push(performance.now() - started);
      const { question, answer } = said(id);
      if (content !== (prefix === 'q' ? question : answer))
        throw new Error(`${prefix}${id} has another content`);
    }
    return { rows, contents: whole };
  };
  // The other half of the nodes first: the code that runs is compiled.
  await read('q');
  const measured = await read('a');
  await store.close();
  await contents.close();
  await log.close();
  return measured;
};

/**
 * The conversation in a new home of Stemma, after a short one in another home: the code that the home's own thread runs is
 * compiled, that of its other threads is not. Then what looking back costs.
 */
export const growInNewHome = async (input: GrowthInput): Promise<Omit<Growth, keyof TurnSpreads>> => {
  const before = `${input.directory}-before`;
  await recordInNewHome(before, WARM_TURNS);
  rmSync(before, { recursive: true });
  const turns = await recordInNewHome(input.directory, input.turns);
  const size = (part: string): number => onDisk(join(input.directory, part));
  const bytes = onDisk(input.directory);
  const parts = { log: size('log'), rows: size('rows'), contents: size('contents') };
  const snapshots = await readSnapshots(input);
  const nodes = await readNodes(input);
  await askForAll(input);
  return {
    bytes,
    asked: onDisk(input.directory),
    parts,
    inNewHome: spread(turns),
    storing: null,
    snapshot: spread(snapshots),
    node: spread(nodes.contents),
    row: spread(nodes.rows),
  };
};
