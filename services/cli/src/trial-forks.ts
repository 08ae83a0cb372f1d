import { sha256Hex } from '@stemma/canonical';
import type { Outcome } from '@stemma/command-handler';
import { fail, isStemmaError } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import type { Command, Step } from '@stemma/history';
import { branchRefOf } from '@stemma/history-store';
import type { Home } from '@stemma/home';

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
      return task && openTrial(task.history, task.root, start?.op === 'start' ? (start.name ?? null) : null);
    },
  };
};

const openTrial = (history: string, root: Said, name: string | null): Trial => {
  const state = {
    /** The command before, where it stands. */
    before: root,
    /** Of the branch that was begun; null: all so far is in an earlier trial. */
    branchId: null as number | null,
    /** Of the next command, by the numbers of the conversation. */
    frame: 1,
    /** A call whose end is not known to be the same: where it stands in front of, and its commands so far. */
    open: null as { readonly before: Said; readonly commands: Command[] } | null,
  };
  /** Where the commands of the conversation stand, by their numbers in it. */
  const frames = new Map<number, BranchPosition>([[0, root.at]]);
  const branches = new Map<number, number>();
  /** What nodes are called in the history, by their ids in the conversation. */
  const ids = new Map<string, string>();
  const nodeIn = (node: Node, branchId: number, own: Map<string, string>): Node => {
    const { id } = node;
    if (typeof id !== 'string') return node;
    const called = `b${branchId}.${id}`;
    own.set(id, called);
    ids.set(id, called);
    return { ...node, id: called };
  };
  const stepIn = (step: Step, branchId: number, own: Map<string, string>): Step => {
    if (step.op === 'insert')
      return {
        ...step,
        node: nodeIn(step.node, branchId, own),
        ...(step.siblings !== undefined && {
          siblings: step.siblings.map((node) => nodeIn(node, branchId, own)),
        }),
      };
    if (step.op === 'remove') return { ...step, id: ids.get(step.id) ?? step.id };
    if (step.op !== 'fork' || step.at === undefined) return step;
    const at = frames.get(step.at.seq);
    if (at === undefined)
      throw fail('E_INTERNAL', `a branch begins at the command ${step.at.seq}, which is not there`);
    return { ...step, at };
  };
  /** True if an earlier trial says the same here. */
  const isSaid = (command: Command): boolean => {
    if (state.branchId !== null || command.branchId !== 0) return false;
    const known = state.before.followers.get(sameness(command.steps));
    // The end of a call whose answer is the same is that of the earlier one.
    if (known === undefined) return endsCall(command.steps) && state.open !== null;
    if (startsCall(command.steps)) state.open = { before: state.before, commands: [] };
    if (endsCall(command.steps)) state.open = null;
    state.open?.commands.push(command);
    for (const [own, called] of known.ids) ids.set(own, called);
    state.before = known;
    return true;
  };
  const record = async (home: Home, command: Command, branchId: number, frame: number): Promise<Outcome> => {
    const { expected: _, ...free } = command;
    const begins = command.steps.some(({ op }) => op === 'fork');
    const on = begins ? branchId : (branches.get(command.branchId) ?? branchId);
    const own = new Map<string, string>();
    const steps = command.steps.map((step) => stepIn(step, branchId, own));
    const outcome = await home.submit({ ...free, history, branchId: on, steps });
    const at = { branchId: outcome.branchId, seq: outcome.seq };
    frames.set(frame, at);
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
        state.branchId = await beginBranch(home, history, { at: before.at, name, command });
        // A call that goes on otherwise is another call.
        for (const [i, again] of commands.entries())
          await record(home, again, state.branchId, frame - commands.length + i);
      }
      return record(home, command, state.branchId, frame);
    },
    branch() {
      const branchId = state.branchId ?? state.before.at.branchId;
      return { history, branch: branchRefOf(history, branchId).branch, branchId };
    },
  };
};

type Node = Extract<Step, { op: 'insert' }>['node'];

const startsCall = (steps: readonly Step[]): boolean =>
  steps.some(({ op }) => op === 'start_call') && !endsCall(steps);
const endsCall = (steps: readonly Step[]): boolean => steps.some(({ op }) => op === 'finish_call');

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
