import {
  canonicalJson,
  compareBytes,
  parseWideJson,
  sha256Hex,
  toHex,
  type WideJson,
} from '@stemma/canonical';
import type { Outcome } from '@stemma/command-handler';
import { hashFlat } from '@stemma/context-tree';
import { fail, isStemmaError, StemmaError } from '@stemma/errors';
import { isOf, type BranchPosition } from '@stemma/events';
import { historyId, parseCommand, type Command } from '@stemma/history';
import { branchRefOf, type BranchRef, type Position, type TreeView } from '@stemma/history-store';
import { defined } from '@stemma/values';
import { setImmediate } from 'node:timers/promises';
import { checkExperiment, EXPERIMENT_FORMAT, type Experiment, type ExperimentCommand } from './format.ts';
import type { ExperimentRun, ExperimentRunOptions, ExperimentSource } from './types.ts';

/** A signal of the system is noticed when the event loop gets its turn: once in so many commands that are checked. */
const TURN_EVERY = 100;

/** Where an experiment runs. */
export type ExperimentTarget = {
  submit(command: Command): Promise<Outcome>;
  position(line: BranchRef, ref: string): Promise<Position>;
  view(position: Position): Promise<TreeView>;
};

/**
 * Does an experiment again, through the writer like any commands, in a history of its own; every snapshot must have the
 * hashes that were recorded. Run again, or resumed after it was stopped, it does what is not done yet.
 *
 * @throws E_EXPERIMENT_INVALID, E_INPUT_NOT_JSON and others of reading; E_EXPERIMENT_DIVERGED at the first command that comes
 *   to something else; E_HISTORY_EXISTS when another history has the name; E_NAME_INVALID; E_CANCELLED
 */
export const runExperiment = async (
  home: ExperimentTarget,
  source: ExperimentSource,
  { name = null, signal, onProgress }: ExperimentRunOptions = {},
): Promise<ExperimentRun> => {
  const { value, sha256 } =
    typeof source === 'string'
      ? { value: parseWideJson(source, 'the experiment'), sha256: sha256Hex(source) }
      : source;
  const experiment = checkExperiment(value);
  const startCommand = `experiment:${sha256}`;
  const history = historyId(name, startCommand);
  const total = experiment.commands.length;
  const done: BranchPosition[] = [];
  const commands: ReturnType<typeof prepareCommand>[] = [];
  // Stands for the positions of earlier commands, which are not known yet.
  const earlier: BranchPosition[] = [];
  for (const [i, each] of experiment.commands.entries()) {
    if (i % TURN_EVERY === 0) await setImmediate();
    signal?.throwIfAborted();
    commands.push(prepareCommand(each, i, earlier));
    earlier.push({ branchId: 0, seq: i });
  }
  let repeated = 0;
  let snapshots = 0;
  for (const [i, prepared] of commands.entries()) {
    signal?.throwIfAborted();
    const last = done.at(-1);
    const historyStart = { name, source: { format: EXPERIMENT_FORMAT, sha256 } };
    const command = { ...prepared.command(done, historyStart), history, branchId: last?.branchId ?? 0 };
    const outcome = await submit(home, i, experiment, {
      ...command,
      id: i === 0 ? startCommand : command.id,
      ...defined({ expected: last?.seq }),
    });
    snapshots += checkOutcome(i, experiment, outcome) ? 1 : 0;
    repeated += outcome.repeated ? 1 : 0;
    done.push({ branchId: outcome.branchId, seq: outcome.seq });
    onProgress?.(i + 1, total);
  }
  const { branchId, seq } = done.at(-1) ?? { branchId: 0, seq: 0 };
  const branchRef = branchRefOf(history, branchId);
  const { tree, payloads, thread } = await home.view(await home.position(branchRef, `@s${seq}`));
  const hashes = hashFlat(tree, payloads, thread);
  const end = { tree: toHex(hashes.treeHash), thread: toHex(hashes.threadHash) };
  for (const what of ['tree', 'thread'] as const)
    if (end[what] !== experiment.end[what])
      throw diverged(experiment, total - 1, `the ${what} at the end is another than recorded`);
  return {
    history,
    branch: branchRef.branch,
    branchId: branchRef.branchId,
    commands: total,
    repeated,
    snapshots,
    ...end,
  };
};

type Done = readonly BranchPosition[];
type HistoryStart = {
  readonly name: string | null;
  readonly source: { readonly format: string; readonly sha256: string };
};

/** A command of the file, checked before anything is written; the positions that it names are known when it is its turn. */
const prepareCommand = (each: ExperimentCommand, i: number, earlier: Done) => {
  const startsHistory = (op: WideJson | undefined): boolean => op === 'start' || op === 'import';
  if (startsHistory(each.steps[0]?.['op']) !== (i === 0))
    throw fail(
      'E_EXPERIMENT_INVALID',
      `commands.${i}: the first command must start the history, and no other may`,
    );
  for (const [k, step] of each.steps.entries())
    if (step['op'] === 'observe' || (k > 0 && startsHistory(step['op'])))
      throw fail(
        'E_EXPERIMENT_INVALID',
        `commands.${i}.steps.${k}: ${canonicalJson(step['op'] ?? null)} is not allowed in an experiment`,
      );
  const command = (done: Done, historyStart: HistoryStart): Command => {
    const last = done.at(-1);
    const steps = each.steps.map((step): WideJson => {
      const made: { [name: string]: WideJson } = { ...step };
      if (typeof made['at_ns'] === 'string') made['at_ns'] = nanoseconds(made['at_ns'], i);
      for (const field of ['position', 'since'])
        if (made[field] !== undefined) made[field] = positionAfter(made[field], done, i);
      if (startsHistory(step['op'])) Object.assign(made, historyStart);
      if (step['op'] === 'fork' && last !== undefined) made['at'] = { ...last };
      if (step['op'] === 'rollback' && last !== undefined) made['to'] = { ...last };
      return made;
    });
    try {
      return parseCommand({
        id: each.id,
        history: 'h',
        branchId: 0,
        by: each.by,
        ...defined({ notes: each.notes }),
        ...(each.time === null ? {} : { at_ns: BigInt(each.time) }),
        steps,
      });
    } catch (error) {
      if (!isStemmaError(error, 'E_COMMAND_INVALID')) throw error;
      throw fail('E_EXPERIMENT_INVALID', `commands.${i}: ${error.message}`, { command: i });
    }
  };
  // Once with positions that are none, so that a file with a fault at its end is refused before anything is written.
  command(earlier, { name: null, source: { format: '', sha256: '' } });
  return { command };
};

const nanoseconds = (text: string, i: number): bigint => {
  if (!/^\d{1,19}$/.test(text))
    throw fail('E_EXPERIMENT_INVALID', `commands.${i}: at_ns must be digits as a text`);
  return BigInt(text);
};

const positionAfter = (value: WideJson, done: Done, i: number): WideJson => {
  const after = typeof value === 'object' && value !== null && 'after' in value ? value['after'] : undefined;
  const position = typeof after === 'number' ? done[after] : undefined;
  if (position === undefined)
    throw fail(
      'E_EXPERIMENT_INVALID',
      `commands.${i}: a position must be {after: the number of an earlier command}`,
    );
  return { ...position };
};

/** What is no fault of the experiment. */
const OUTSIDE: ReadonlySet<string> = new Set([
  'E_CONFLICT',
  'E_OUTCOME_UNKNOWN',
  'E_CANCELLED',
  'E_HISTORY_EXISTS',
  'E_COMMAND_REUSED',
  'E_NAME_INVALID',
  'E_LOG_BUSY',
  'E_LOG_CLOSED',
  'E_IO',
  'E_INTERNAL',
]);

const submit = async (
  home: Pick<ExperimentTarget, 'submit'>,
  i: number,
  experiment: Experiment,
  command: Command,
): Promise<Outcome> => {
  try {
    return await home.submit(command);
  } catch (error) {
    if (!(error instanceof StemmaError) || OUTSIDE.has(error.code)) throw error;
    throw diverged(experiment, i, `it was refused: ${error.message} (${error.code})`);
  }
};

/** True if the command made a snapshot, and it is the recorded one. */
const checkOutcome = (i: number, experiment: Experiment, { events }: Outcome): boolean => {
  const recorded = experiment.commands[i]?.snapshot;
  const made = events.find((event) => isOf(event, 'snapshot'));
  if (made === undefined) {
    if (recorded !== undefined) throw diverged(experiment, i, 'it made no snapshot where one was recorded');
    return false;
  }
  if (recorded === undefined) throw diverged(experiment, i, 'it made a snapshot where none was recorded');
  if (made.cycle !== recorded.cycle)
    throw diverged(experiment, i, `its snapshot is of cycle ${made.cycle}, recorded was ${recorded.cycle}`);
  for (const [what, hash] of [
    ['tree', made.treeHash],
    ['thread', made.threadHash],
  ] as const)
    if (compareBytes(hash, Buffer.from(recorded[what], 'hex')) !== 0)
      throw diverged(experiment, i, `the ${what} of cycle ${made.cycle} is another than recorded`);
  return true;
};

const diverged = (experiment: Experiment, i: number, why: string): StemmaError => {
  const { seq = 0 } = experiment.commands[i]?.origin ?? {};
  return fail(
    'E_EXPERIMENT_DIVERGED',
    `command ${i} of ${experiment.commands.length} (frame ${seq} of the original): ${why}`,
    { command: i, frame: seq },
  );
};
