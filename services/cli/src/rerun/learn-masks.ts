import { isJsonObject, type WideJson } from '@stemma/canonical';
import { fail, visibleText } from '@stemma/errors';
import type { BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { Mask, ObservedCall, ProposedMask } from '@stemma/rerun';
import { defined } from '@stemma/values';
import { randomUUID } from 'node:crypto';
import { actorOf, notesOf } from '../actor.ts';
import type { Context } from '../command.ts';
import { text } from '../options.ts';

type Options = Readonly<Record<string, unknown>>;

export const LEARN_OPTION: readonly [syntax: string, description: string] = [
  '--learn',
  'run the command twice, and propose masks for what differs between the two; with --actor, they are settings of the branch that later reruns use',
];

/** Settings of a branch of this prefix are masks: `rerun.mask.day`. */
const PREFIX = 'rerun.mask.';

const HOLDS_IN: readonly Mask['in'][] = ['any', 'system', 'user', 'assistant', 'tool', 'parameters'];

/** The masks that are settings of a branch. @throws E_CONFIG_INVALID for one that is none */
export const recordedMasks = async (
  home: Pick<Home, 'branches' | 'position'>,
  branch: BranchRef,
): Promise<readonly Mask[]> => {
  const { config } = await home.branches.config(await home.position(branch));
  return Object.entries(config)
    .filter(([key]) => key.startsWith(PREFIX))
    .map(([key, value]) => maskIn(key, value));
};

const maskIn = (key: string, value: WideJson): Mask => {
  const name = key.slice(PREFIX.length);
  if (typeof value === 'string') return { name, pattern: value, in: 'any' };
  const { pattern, in: given } = isJsonObject(value) ? value : {};
  const holdsIn = HOLDS_IN.find((each) => each === given);
  if (typeof pattern === 'string' && holdsIn !== undefined) return { name, pattern, in: holdsIn };
  throw fail(
    'E_CONFIG_INVALID',
    `${key} is a pattern, or {"pattern", "in"} with one of ${HOLDS_IN.join(', ')}: stemma config set takes it away`,
    { key },
  );
};

/** A mask that two reruns suggest, under a name that no other has. */
export type LearnedMask = ProposedMask & { readonly isRecorded: boolean };

/** What two reruns of a command showed, and the masks that hold already. */
export type TwoReruns = {
  readonly first: readonly ObservedCall[];
  readonly second: readonly ObservedCall[];
  readonly masks: readonly Mask[];
};

/** Proposes masks for what differs between two reruns. If an actor is named, they are recorded as settings of the branch. */
export const learnMasks = async (
  context: Context,
  home: Home,
  branch: BranchRef,
  { first, second, masks }: TwoReruns,
  options: Options,
): Promise<readonly LearnedMask[]> => {
  const { proposeMasks } = await import('@stemma/rerun');
  const taken = new Set(masks.map(({ name }) => name));
  const proposed = proposeMasks(first, second, masks).map((each) => {
    let name: string = each.mask.name;
    for (let number = 2; taken.has(name); number++) name = `${each.mask.in}-${number}`;
    taken.add(name);
    return { ...each, mask: { ...each.mask, name } };
  });
  const isRecorded = recordsMasks(options) && proposed.length > 0;
  if (isRecorded) {
    const set = Object.fromEntries(
      proposed.map(({ mask: { name, pattern, in: holdsIn } }) => [
        `${PREFIX}${name}`,
        { pattern, in: holdsIn },
      ]),
    );
    const { history, branchId } = branch;
    const [actor, notes] = [await actorOf(context, options), await notesOf(context, options)];
    await home.submit({
      ...{ id: randomUUID(), history, branchId, by: { actor } },
      ...defined({ notes }),
      steps: [{ op: 'config', set }],
    });
  }
  return proposed.map((each) => ({ ...each, isRecorded }));
};

/** True if what is learned is recorded: somebody says who wants it, or why. */
export const recordsMasks = (options: Options): boolean =>
  text(options, 'actor') !== undefined || text(options, 'notes') !== undefined;

/** What was learned, for people. */
export const learnedLines = (learned: readonly LearnedMask[]): readonly string[] => {
  if (learned.length === 0) return ['learned: the two runs differ in nothing that is not bound'];
  const isRecorded = learned.some((each) => each.isRecorded);
  return [
    ...learned.map(
      ({ mask: { name, pattern }, label, message, first, second }) =>
        `mask ${name}: ${visibleText(pattern)}  (${label}, message ${message + 1}: ${visibleText(first)}, then ${visibleText(second)})`,
    ),
    isRecorded
      ? 'they are settings of the branch: later reruns use them'
      : 'with --actor they are recorded as settings of the branch, and later reruns use them',
  ];
};
