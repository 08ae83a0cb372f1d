import { sha256Hex } from '@stemma/canonical';
import type { Outcome } from '@stemma/command-handler';
import { fail, isStemmaError } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import type { Command, Step } from '@stemma/history';
import { areHarmless } from './imported-frames.ts';
import { branchRefOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import { defined } from '@stemma/values';

/**
 * Trials of tasks as branches: the first conversation with a beginning is the main branch of a history, and each later one with the same
 * begins a branch where it says something else than all before it. What they have in common is recorded once, with the times of the first.
 */
export type TrialForks = {
  /** Learns what the first trial of a task recorded, command by command. */
  readonly recorded: (command: Command, outcome: Outcome) => void;
  /** How many tasks there are so far. */
  readonly tasks: () => number;
  /** A further conversation, by its first command; undefined: none before has its beginning. */
  readonly begin: (first: Command) => Trial | undefined;
};

/** A conversation that becomes a branch. */
export type Trial = {
  /** Gives what was recorded of a command; undefined: an earlier trial says the same, and nothing was. */
  readonly add: (home: Home, command: Command) => Promise<Outcome | undefined>;
  /** Where it stands; `branchId` is that of the trial whose end it shares, if it says nothing else. */
  readonly branch: () => { readonly history: string; readonly branch: string; readonly branchId: number };
};

/** A command of the trials so far, where it stands, what its nodes are called there, and what followed it. */
type Said = {
  readonly at: BranchPosition;
  /** By their ids in the conversation; those of the first conversation have them. */
  readonly ids: ReadonlyMap<string, string>;
  readonly followers: Map<string, Said>;
};

const NO_IDS: ReadonlyMap<string, string> = new Map();

/** So many branches may have one name with a number behind it. */
const MOST_NAMESAKES = 10_000;

/** The first trial of a task. */
type Task = { readonly history: string; readonly root: Said; last: Said };

export const openTrialForks = (): TrialForks => {
  /** By how they begin, and by their histories. */
  const begun = new Map<string, Task>();
  const tasks = new Map<string, Task>();
  return {
    recorded(command, { history, branchId, seq }) {
      const said: Said = { at: { branchId, seq }, ids: NO_IDS, followers: new Map() };
      const known = tasks.get(history);
      if (known === undefined) {
        const task: Task = { history, root: said, last: said };
        tasks.set(history, task);
        begun.set(sameness(command.steps.slice(1)), task);
        return;
      }
      if (branchId !== 0) return;
      known.last.followers.set(sameness(command.steps), said);
      known.last = said;
    },
    tasks: () => tasks.size,
    begin(first) {
      const [start, ...steps] = first.steps;
      const task = start?.op === 'start' ? begun.get(sameness(steps)) : undefined;
      const name = start?.op === 'start' ? (start.name ?? null) : null;
      return task && openTrial(task.history, { root: task.root, frame: 1, name, earlier: ALL_OWN });
    },
  };
};

/** Where the commands of a conversation stand that were recorded before a branch was begun for it. */
export type EarlierPositions = {
  readonly positionOf: (own: BranchPosition) => BranchPosition | undefined;
  readonly branchOf: (own: number) => number | undefined;
};

const ALL_OWN: EarlierPositions = { positionOf: () => undefined, branchOf: () => undefined };

/**
 * A conversation whose file goes on otherwise than the history that it was imported to: what comes is recorded on a branch that begins
 * where both are the same.
 *
 * @param at the last command of its main branch that is the same
 * @param frame the number of the next one
 */
export const goOnBeside = (
  history: string,
  at: BranchPosition,
  frame: number,
  earlier: EarlierPositions,
): Trial => {
  const root: Said = { at, ids: NO_IDS, followers: new Map() };
  return openTrial(history, { root, frame, name: null, earlier });
};

type Beginning = {
  readonly root: Said;
  readonly frame: number;
  /** Of its branch. */
  readonly name: string | null;
  readonly earlier: EarlierPositions;
};

const openTrial = (history: string, { root, frame: first, name, earlier }: Beginning): Trial => {
  const state = {
    /** The command before, where it stands. */
    before: root,
    /** Of the branch that was begun; null: all so far is in an earlier trial. */
    branchId: null as number | null,
    /** Of the next command, by the numbers of the conversation. */
    frame: first,
    /** A call whose end is not known to be the same: where it stands in front of, and its commands so far. */
    open: null as { readonly before: Said; readonly commands: Command[] } | null,
  };
  /** Where the commands of the conversation stand, by their numbers in it. */
  const frames = new Map<number, BranchPosition>([[first - 1, root.at]]);
  const branches = new Map<number, number>();
  /** The last frame of each branch, as far as it is of this conversation. */
  const tips = new Map<number, number>();
  const names = openNodeNames();
  const stepIn = (step: Step, branchId: number, own: Map<string, string>): Step => {
    if (step.op !== 'fork' || step.at === undefined) return names.stepIn(step, branchId, own);
    const at = frames.get(step.at.seq) ?? earlier.positionOf(step.at);
    if (at === undefined)
      throw fail('E_INTERNAL', `a branch begins at the command ${step.at.seq}, which is not there`);
    return { ...step, at };
  };
  /** True if an earlier trial says the same here. */
  const isSaid = (command: Command): boolean => {
    if (state.branchId !== null || command.branchId !== 0) return false;
    const known = state.before.followers.get(sameness(command.steps));
    // The end of a call whose answer is the same is that of the earlier one.
    if (known === undefined) {
      const isSameCall = endsCall(command.steps) && state.open !== null;
      if (isSameCall) state.open = null;
      return isSameCall;
    }
    if (startsCall(command.steps)) state.open = { before: state.before, commands: [] };
    if (endsCall(command.steps)) state.open = null;
    state.open?.commands.push(command);
    names.learn(known.ids);
    state.before = known;
    return true;
  };
  const mainOf = (): number => state.branchId ?? state.before.at.branchId;
  const begin = async (home: Home, command: Command): Promise<number> => {
    const branchId = await beginBranch(home, history, { at: state.before.at, name, command });
    tips.set(branchId, branchId);
    state.branchId = branchId;
    return branchId;
  };
  const submit = async (home: Home, command: Command, branchId: number, own: Map<string, string>) => {
    const { expected: _, next: __, ...free } = command;
    const begins = command.steps.some(({ op }) => op === 'fork');
    const isMain = begins || command.branchId === 0;
    const on = isMain
      ? branchId
      : (branches.get(command.branchId) ?? earlier.branchOf(command.branchId) ?? branchId);
    const steps = command.steps.map((step) => stepIn(step, branchId, own));
    // The end of a call shows nothing: what stands before it does not matter.
    const tip = begins || endsAlone(steps) ? undefined : tips.get(on);
    const outcome = await submitBehind(home, { ...free, history, branchId: on, steps }, tip);
    tips.set(outcome.branchId, outcome.seq);
    return outcome;
  };
  const record = async (home: Home, command: Command, branchId: number, frame: number): Promise<Outcome> => {
    const own = new Map<string, string>();
    const outcome = await submit(home, command, branchId, own).catch(async (error: unknown) => {
      // Somebody changed the branch, or the file was rewritten once more.
      if (command.branchId !== 0 || endsAlone(command.steps) || !partsThere(error)) throw error;
      own.clear();
      return submit(home, command, await begin(home, command), own);
    });
    const at = { branchId: outcome.branchId, seq: outcome.seq };
    frames.set(frame, at);
    const begins = command.steps.some(({ op }) => op === 'fork');
    if (begins) branches.set(frame, outcome.branchId);
    if (command.branchId !== 0 || begins) return outcome;
    const said: Said = { at, ids: own, followers: new Map() };
    state.before.followers.set(sameness(command.steps), said);
    state.before = said;
    return outcome;
  };
  return {
    async add(home, command) {
      const { frame } = state;
      state.frame += 1;
      if (isSaid(command)) {
        frames.set(frame, state.before.at);
        return undefined;
      }
      if (state.branchId === null) {
        const { before, commands } = state.open ?? { before: state.before, commands: [] };
        state.before = before;
        await begin(home, command);
        // A call that goes on otherwise is another call.
        for (const [i, again] of commands.entries())
          await record(home, again, mainOf(), frame - commands.length + i);
      }
      try {
        return await record(home, command, mainOf(), frame);
      } catch (error) {
        // The call ended before, with less of its answer: its messages are all in the thread.
        if (!endsAlone(command.steps) || !isStemmaError(error, 'E_COMMAND_REUSED')) throw error;
        frames.set(frame, state.before.at);
        return undefined;
      }
    },
    branch() {
      const branchId = mainOf();
      return { history, branch: branchRefOf(history, branchId).branch, branchId };
    },
  };
};

/**
 * Submits a command behind the frame `tip` of its branch, and past what others wrote there that changes nothing.
 *
 * @throws E_CONFLICT if others changed the branch
 */
const submitBehind = async (home: Home, command: Command, tip: number | undefined): Promise<Outcome> => {
  let expected = tip;
  for (;;)
    try {
      return await home.submit({ ...command, ...defined({ expected }) });
    } catch (error) {
      if (expected === undefined || !isStemmaError(error, 'E_CONFLICT')) throw error;
      const others = await home.read.events(command.history, { from: expected + 1 });
      const isOn = (branchId: number): boolean => branchId === command.branchId;
      const newest = others.findLast(({ branchId }) => isOn(branchId));
      if (newest === undefined || !areHarmless(others, { isOwn: isOn })) throw error;
      expected = newest.seq;
    }
};

/** What nodes are called in the history, by their ids in the conversation: a history has each id once. */
const openNodeNames = () => {
  const ids = new Map<string, string>();
  const nodeIn = (node: Node, branchId: number, own: Map<string, string>): Node => {
    const { id } = node;
    if (typeof id !== 'string') return node;
    const called = `b${branchId}.${id}`;
    own.set(id, called);
    ids.set(id, called);
    return { ...node, id: called };
  };
  return {
    learn(known: ReadonlyMap<string, string>): void {
      for (const [own, called] of known) ids.set(own, called);
    },
    stepIn(step: Step, branchId: number, own: Map<string, string>): Step {
      if (step.op === 'remove') return { ...step, id: ids.get(step.id) ?? step.id };
      if (step.op !== 'insert') return step;
      const { node, siblings } = step;
      return {
        ...step,
        node: nodeIn(node, branchId, own),
        ...(siblings !== undefined && { siblings: siblings.map((each) => nodeIn(each, branchId, own)) }),
      };
    },
  };
};

/** True if a command cannot stand where it would: a branch begins there. */
export const partsThere = (error: unknown): boolean =>
  isStemmaError(error, 'E_CONFLICT') || isStemmaError(error, 'E_COMMAND_REUSED');

type Node = Extract<Step, { op: 'insert' }>['node'];

const startsCall = (steps: readonly Step[]): boolean =>
  steps.some(({ op }) => op === 'start_call') && !endsCall(steps);
const endsCall = (steps: readonly Step[]): boolean => steps.some(({ op }) => op === 'finish_call');

const endsAlone = (steps: readonly Step[]): boolean => steps.every(({ op }) => op === 'finish_call');

/** Begins the branch of a trial in front of its first own command, with a number behind its name if another branch has it. */
const beginBranch = async (
  home: Home,
  history: string,
  {
    at,
    name,
    command,
  }: { readonly at: BranchPosition; readonly name: string | null; readonly command: Command },
): Promise<number> => {
  for (let number = 1; ; number++) {
    const called = name === null || number === 1 ? name : `${name}-${number}`;
    const step: Step = { op: 'fork', name: called, at };
    const { by } = command;
    try {
      const id = `${command.id}.forked`;
      return (await home.submit({ id, history, branchId: at.branchId, by, steps: [step] })).branchId;
    } catch (error) {
      // Sent once more it has the name that it got then.
      const isTaken = isStemmaError(error, 'E_NAME_TAKEN') || isStemmaError(error, 'E_COMMAND_REUSED');
      if (!isTaken || name === null || number > MOST_NAMESAKES) throw error;
    }
  }
};

/** Of a step: when it was, how long it took and what it cost, and what a recorder calls it. */
const PASSING: ReadonlySet<string> = new Set([
  ...['at_ns', 'turn_id', 'sent', 'attemptId', 'usage', 'durationMs', 'firstByteMs'],
]);

/** The same for commands that say the same. */
const sameness = (steps: readonly Step[]): string => {
  const said = steps.map((step) => Object.entries(step).filter(([name]) => !PASSING.has(name)));
  return sha256Hex(
    JSON.stringify(said, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value)),
  );
};
