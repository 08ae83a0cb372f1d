import type { WideJson, WideJsonObject } from '@stemma/canonical';
import type { SteeringChange } from '@stemma/events';
import type { Step } from '@stemma/history';
import { callSteps, leadingSystem, messageGroups } from '@stemma/importers';
import { defined } from '@stemma/values';
import type { SteeredBlock } from './agents-list.ts';

/** The agent's list as a call has it, against what is recorded of it. */
export type Alignment = {
  /** Which message of the call the blocks are, by the id of the first. */
  readonly messages: ReadonlyMap<string, number>;
  /** The steps that make the branch have the agent's new messages, and not those that it has dropped. */
  readonly steps: readonly Step[];
  /** The index of the message that each step brings, or null. */
  readonly origins: readonly (number | null)[];
  /** Changes of observers to messages that the agent itself has changed since. */
  readonly lost: readonly SteeringChange[];
  /** True if a step removes the core of a sealed turn, which is not possible. */
  readonly touchesCore: boolean;
};

/**
 * Merges a list that comes in with what a branch shows. The agent knows nothing of observers: its list is compared with
 * its own messages, as they were before observers changed or removed them. Where both changed the same message, the
 * agent's counts.
 *
 * @param openCycle the cycle that the call would be of
 */
export const alignMessages = (
  blocks: readonly SteeredBlock[],
  wanted: readonly WideJson[],
  openCycle: number,
): Alignment => {
  const own = blocks
    .filter(({ change }) => change?.what !== 'inserted')
    .map((block): SteeredBlock => ({ ...block, payload: block.original }));
  const first = callSteps(own, wanted);
  const byId = new Map(own.map((block) => [block.id, block]));
  const isGone = (id: string): boolean => byId.get(id)?.change?.what === 'removed';
  // A message of the system that an observer removed and the agent rewrites is there again.
  const rewritten = first.steps.filter((step) => step.op === 'replace' && isGone(step.id));
  const lost: SteeringChange[] = [];
  const lose = (id: string): void => {
    const change = byId.get(id)?.change ?? null;
    if (change !== null) lost.push({ what: 'lost', node: id, seq: change.by });
  };
  let counted = own;
  let plan = first;
  if (rewritten.length > 0) {
    for (const { change, id, inSys } of own) if (inSys && change?.what === 'removed') lose(id);
    counted = own.filter(({ inSys, change }) => !(inSys && change?.what === 'removed'));
    plan = callSteps(counted, wanted);
  }
  const steps: Step[] = [];
  const origins: (number | null)[] = [];
  const dropped = new Set<string>();
  let touchesCore = false;
  plan.steps.forEach((step, i) => {
    if (step.op === 'remove') dropped.add(step.id);
    if (step.op === 'remove' && isGone(step.id)) return;
    if (step.op === 'remove' || step.op === 'replace') lose(step.id);
    if (step.op === 'remove' && byId.get(step.id)?.isSealedCore === true) touchesCore = true;
    steps.push(step);
    origins.push(plan.messages[i] ?? null);
  });
  const head = leadingSystem(wanted);
  const messages = new Map<string, number>();
  let [sys, rest] = [0, head];
  for (const [block] of messageGroups(counted)) {
    if (block === undefined || dropped.has(block.id)) continue;
    messages.set(block.id, block.inSys ? sys++ : rest++);
  }
  return { messages, steps: withOffsets(blocks, steps, openCycle), origins, lost, touchesCore };
};

/** Room between the offsets of messages, so that others find a place among them. */
const ROOM = 1024;

/** An observer's block with an offset below this stands before what a call brings. */
const BEFORE = -1_000_000;

type Insert = Extract<Step, { op: 'insert' }>;

/**
 * Gives inserted messages offsets: they come after the agent's own of the open cycle, and before what observers have
 * inserted there, so that this is the newest that the model is shown.
 */
const withOffsets = (blocks: readonly SteeredBlock[], steps: readonly Step[], openCycle: number): Step[] => {
  const isBrought = (step: Step): step is Insert => step.op === 'insert' && step.parent === '^ah';
  const count = steps.filter(isBrought).length;
  const open = blocks.filter(({ headers, inSys }) => !inSys && headers.cycle === openCycle);
  const own = open.filter(({ change }) => change?.what !== 'inserted').map(({ headers }) => headers.offset);
  const low = own.length === 0 ? undefined : Math.max(...own);
  const later = open
    .filter(({ change, headers }) => change?.what === 'inserted' && headers.offset > (low ?? BEFORE))
    .map(({ headers }) => headers.offset);
  const high = Math.min(low === undefined ? 0 : Infinity, ...later);
  const room =
    low === undefined || high === Infinity ? ROOM : Math.max(1, Math.floor((high - low) / (count + 1)));
  let number = 0;
  return steps.map((step) => {
    if (!isBrought(step)) return step;
    const made = low === undefined ? high - (count - number) * room : low + (number + 1) * room;
    number++;
    const offset = made === 0 ? -1 : made;
    return {
      ...step,
      node: { ...step.node, offset },
      ...defined({ siblings: step.siblings?.map((sibling): WideJsonObject => ({ ...sibling, offset })) }),
    };
  });
};
