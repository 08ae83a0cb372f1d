import { canonicalJson, toHex, type WideJson } from '@stemma/canonical';
import { exportTree, hashFlat } from '@stemma/context-tree';
import { isOf } from '@stemma/events';
import { lineageId } from '@stemma/history';
import { readChain, readLineage, type Position } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { actsBetween, viewOf } from '@stemma/queries';
import { authorOf, findHistory, type Act } from '@stemma/read-models';
import { EXPERIMENT_FORMAT, type Experiment, type ExperimentCommand } from './format.ts';
import { stepsOfFrame } from './steps-of-frame.ts';

/**
 * A lineage up to a position as an experiment, in pieces of one JSON document: every frame of its chain as the command it
 * was, with the time and the ids it was given, contents inline. The same lineage gives the same bytes.
 */
export const exportExperiment = async function* (
  projector: ServedRows,
  position: Position,
): AsyncIterable<string> {
  const { history, strand, seq } = position;
  await projector.catchUp();
  const { acts, head } = await projector.read((rows) => {
    const limits = new Map(readChain(rows, history, strand, seq).map((link) => [link.strand, link.limit]));
    const found: Act[] = [];
    for (const act of actsBetween(rows, history, 0, seq))
      if (!act.observed && act.seq <= (limits.get(act.strand) ?? -1)) found.push(act);
    const { policy, config } = readLineage(rows, history, strand, seq);
    const row = findHistory(rows, history);
    const configuration: { [name: string]: WideJson } = { ...config, policy };
    return {
      acts: found,
      head: {
        format: EXPERIMENT_FORMAT,
        origin: {
          history,
          name: row?.name ?? null,
          lineage: lineageId(history, strand),
          position: position.label,
          source: row?.source ?? null,
        },
        configuration,
        seeds: seedsIn(configuration),
      } satisfies Omit<Experiment, 'commands' | 'end' | 'left_out'>,
    };
  });
  const numbers = new Map(acts.map((act, i) => [act.seq, i]));
  const leftOut: string[] = [];
  const after = (at: { readonly strand: number; readonly seq: number }): number | null => {
    const number = numbers.get(at.seq);
    return number !== undefined && acts[number]?.strand === at.strand ? number : null;
  };
  yield `${canonicalJson(head).slice(0, -1)},"commands":[\n`;
  let separator = '';
  for (const act of acts) {
    const command = await commandOf(projector, history, act, after, leftOut);
    if (command === null) continue;
    yield `${separator}${canonicalJson(command as unknown as WideJson)}`;
    separator = ',\n';
  }
  const { tree, payloads, thread } = await viewOf(projector, position);
  const { treeHash, threadHash } = hashFlat(tree, payloads, thread);
  const end = { tree: toHex(treeHash), thread: toHex(threadHash) };
  yield `\n],"end":${canonicalJson(end)},"left_out":${canonicalJson(leftOut)}}\n`;
};

/** What a run needs to be repeated: of the configuration, the keys that end in `seed`. */
const seedsIn = (configuration: { readonly [name: string]: WideJson }): Experiment['seeds'] =>
  Object.fromEntries(Object.entries(configuration).filter(([key]) => /seed$/i.test(key)));

const commandOf = async (
  projector: ServedRows,
  history: string,
  act: Act,
  after: (at: { readonly strand: number; readonly seq: number }) => number | null,
  leftOut: string[],
): Promise<ExperimentCommand | null> => {
  const { seq, strand, at, command } = act;
  const events = await projector.payloads.events(history, seq);
  const imported = events.some(({ type }) => type === 'SnapshotImported');
  const lineage = lineageId(history, strand);
  const position = { history, lineage, strand, seq, cycle: null, committed: true, label: `@s${seq}` };
  const view = imported ? await viewOf(projector, position) : null;
  const exported = view === null ? null : exportTree(view.tree, view.payloads);
  const leaveOut = (what: string): void => void leftOut.push(what);
  const { time, steps } = stepsOfFrame(events, { seq, command, after, exported, leaveOut });
  const first = events[0];
  const notes = first?.type === 'InterventionRecorded' && first.notes !== '' ? { notes: first.notes } : {};
  const made = events.find((event) => isOf(event, 'snapshot'));
  const snapshot =
    made === undefined
      ? {}
      : { snapshot: { cycle: made.cycle, tree: toHex(made.treeHash), thread: toHex(made.threadHash) } };
  return {
    id: command,
    by: authorOf(act),
    ...notes,
    time: time === null ? null : String(time),
    // A frame of which nothing is left stands as a note that says so: positions are told by the number of a command.
    steps: steps.length === 0 ? [{ op: 'annotate', note: `left out: ${leftOut.at(-1) ?? ''}` }] : steps,
    ...snapshot,
    origin: { seq, strand, at: String(at) },
  };
};
