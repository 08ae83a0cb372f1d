import { canonicalJson, toHex, type WideJson } from '@stemma/canonical';
import { exportTree, hashFlat } from '@stemma/context-tree';
import { isOf, type HistoryEvent, type BranchPosition } from '@stemma/events';
import { branchAddress } from '@stemma/history';
import { readAncestorPath, readBranchState, type Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import { frameSummariesBetween, viewOf } from '@stemma/queries';
import { authorOf, findHistory, type FrameSummary } from '@stemma/read-models';
import { EXPERIMENT_FORMAT, type Experiment, type ExperimentCommand } from './format.ts';
import { stepsOfFrame } from './steps-of-frame.ts';

/**
 * A branch up to a position as an experiment, in pieces of one JSON document: every frame of its ancestor path as the command it
 * was, with the time and the ids it was given, contents inline. The same branch gives the same bytes.
 */
export const exportExperiment = async function* (
  projection: Projection,
  position: Position,
): AsyncIterable<string> {
  const { history, branchId, seq } = position;
  await projection.catchUp();
  const { frameSummaries, header } = await projection.read((rows) => {
    const limits = new Map(
      readAncestorPath(rows, history, branchId, seq).map((segment) => [segment.branchId, segment.limit]),
    );
    const found: FrameSummary[] = [];
    for (const frameSummary of frameSummariesBetween(rows, history, 0, seq))
      if (!frameSummary.observed && frameSummary.seq <= (limits.get(frameSummary.branchId) ?? -1))
        found.push(frameSummary);
    const { policy, config } = readBranchState(rows, history, branchId, seq);
    const row = findHistory(rows, history);
    const configuration: { [name: string]: WideJson } = { ...config, policy };
    return {
      frameSummaries: found,
      header: {
        format: EXPERIMENT_FORMAT,
        origin: {
          history,
          name: row?.name ?? null,
          branch: branchAddress(history, branchId),
          position: position.label,
          source: row?.source ?? null,
        },
        configuration,
        seeds: seedsOf(configuration),
      } satisfies Omit<Experiment, 'commands' | 'end' | 'left_out'>,
    };
  });
  const numbers = new Map(frameSummaries.map((frameSummary, i) => [frameSummary.seq, i]));
  const leftOut: string[] = [];
  const after = (at: BranchPosition): number | null => {
    const number = numbers.get(at.seq);
    return number !== undefined && frameSummaries[number]?.branchId === at.branchId ? number : null;
  };
  yield `${canonicalJson(header).slice(0, -1)},"commands":[\n`;
  let separator = '';
  const seqs = frameSummaries.map((frameSummary) => frameSummary.seq);
  for await (const frame of projection.payloads.eventsInTurn(history, seqs)) {
    const frameSummary = frameSummaries[numbers.get(frame.seq) as number] as FrameSummary;
    const command = await commandOf(projection, history, { frameSummary, ...frame }, after, leftOut);
    if (command === null) continue;
    yield `${separator}${canonicalJson(command as unknown as WideJson)}`;
    separator = ',\n';
  }
  const { tree, payloads, thread } = await viewOf(projection, position);
  const { treeHash, threadHash } = hashFlat(tree, payloads, thread);
  const end = { tree: toHex(treeHash), thread: toHex(threadHash) };
  yield `\n],"end":${canonicalJson(end)},"left_out":${canonicalJson(leftOut)}}\n`;
};

/** What a run needs to be repeated: of the configuration, the keys that end in `seed`. */
const seedsOf = (configuration: { readonly [name: string]: WideJson }): Experiment['seeds'] =>
  Object.fromEntries(Object.entries(configuration).filter(([key]) => /seed$/i.test(key)));

const commandOf = async (
  projection: Projection,
  history: string,
  { frameSummary, events }: { readonly frameSummary: FrameSummary; readonly events: readonly HistoryEvent[] },
  after: (at: BranchPosition) => number | null,
  leftOut: string[],
): Promise<ExperimentCommand | null> => {
  const { seq, branchId, at, command } = frameSummary;
  const imported = events.some(({ type }) => type === 'SnapshotImported');
  const branch = branchAddress(history, branchId);
  const position = { history, branch, branchId, seq, cycle: null, committed: true, label: `@s${seq}` };
  const view = imported ? await viewOf(projection, position) : null;
  const exported = view === null ? null : exportTree(view.tree, view.payloads);
  const leaveOut = (what: string): void => void leftOut.push(what);
  const { time, steps } = stepsOfFrame(events, { seq, command, after, exported, leaveOut });
  const first = events[0];
  const notes = first?.type === 'InterventionRecorded' && first.notes !== '' ? { notes: first.notes } : {};
  const snapshotEvent = events.find((event) => isOf(event, 'snapshot'));
  const snapshot =
    snapshotEvent === undefined
      ? {}
      : {
          snapshot: {
            cycle: snapshotEvent.cycle,
            tree: toHex(snapshotEvent.treeHash),
            thread: toHex(snapshotEvent.threadHash),
          },
        };
  return {
    id: command,
    by: authorOf(frameSummary),
    ...notes,
    time: time === null ? null : String(time),
    // A frame of which nothing is left stands as a note that says so: positions are told by the number of a command.
    steps: steps.length === 0 ? [{ op: 'annotate', note: `left out: ${leftOut.at(-1) ?? ''}` }] : steps,
    ...snapshot,
    origin: { seq, branchId, at: String(at) },
  };
};
