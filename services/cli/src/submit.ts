import type { Outcome } from '@stemma/command-handler';
import { fail } from '@stemma/errors';
import type { Author } from '@stemma/events';
import { branchRefOf, type BranchRef } from '@stemma/history-store';
import type { Home } from '@stemma/home';
import type { UnresolvedStep } from '@stemma/queries';
import { defined } from '@stemma/values';
import { randomUUID } from 'node:crypto';
import { ACTOR_OPTIONS, actorOf, notesOf } from './actor.ts';
import type { Context } from './command.ts';
import { text, whole } from './options.ts';
import { printable } from './output.ts';

/** Options of every command that records something: a person's act, or a recorder's own record. */
export const AUTHOR_OPTIONS: readonly (readonly [syntax: string, description: string])[] = [
  ...ACTOR_OPTIONS,
  ['--recorder <name>', 'the agent or program that records, in place of an actor'],
  ['--command <id>', 'the id of the command; the same id sent twice has one effect (default: a new id)'],
  ['--expect <seq>', 'the newest frame that the branch must have; exit 3 if it has another'],
];

type Options = Readonly<Record<string, unknown>>;

/** Who writes: a recorder if one is named, else the actor, with notes. @throws E_ACTOR_REQUIRED, E_USAGE */
const writing = async (
  context: Context,
  options: Options,
): Promise<{ readonly by: Author; readonly notes?: string }> => {
  const recorder = text(options, 'recorder');
  if (recorder === undefined) {
    const by = { actor: await actorOf(context, options) };
    return { by, notes: await notesOf(context, options) };
  }
  if (text(options, 'actor') !== undefined || text(options, 'notes') !== undefined)
    throw fail('E_USAGE', '--recorder excludes --actor and --notes: give either a recorder or an actor');
  return { by: { recorder } };
};

/**
 * Submits steps on a branch as one command; positions in them may be references. Sent again under its id it finds its
 * branch and positions, wherever a rollback has moved the name since.
 */
export const submitSteps = async (
  context: Context,
  { home, branchRef: found }: { readonly home: Home; readonly branchRef: BranchRef },
  given: readonly UnresolvedStep[],
  options: Options,
): Promise<Outcome> => {
  const expected = whole(options, 'expect', { least: 0 });
  const id = text(options, 'command') ?? randomUUID();
  const { branchRef, steps } = await home.branches.resolveSteps(found, id, given);
  return home.submit({
    id,
    history: branchRef.history,
    branchId: branchRef.branchId,
    ...(await writing(context, options)),
    ...defined({ expected }),
    steps: [...steps],
  });
};

/** Prints the outcome of a command: `{history, branch, branchId, seq, position, repeated, ids, cycle, events}`. */
export const printOutcome = async (
  { output, home }: Pick<Context, 'output' | 'home'>,
  { history, branchId, seq, events, repeated }: Outcome,
): Promise<void> => {
  const { branch } = await (await home()).position(branchRefOf(history, branchId), `@s${seq}`);
  const ids = events.flatMap((event) => (event.type === 'NodeInserted' ? [event.node.id] : []));
  const snapshot = events.findLast((event) => event.type === 'SnapshotCommitted');
  const result = {
    history,
    branch,
    branchId,
    seq,
    position: `@s${seq}`,
    repeated,
    ids,
    cycle: snapshot?.cycle ?? null,
    treeHash: snapshot === undefined ? null : Buffer.from(snapshot.treeHash).toString('hex'),
    events: events.map(({ type }) => type),
  };
  return output.result(result, () => {
    const what = [
      ...ids.map((id) => `inserted ${printable(id)}`),
      ...(snapshot === undefined
        ? []
        : [`committed @c${snapshot.cycle}, tree ${result.treeHash?.slice(0, 12) ?? ''}`]),
    ];
    return `@s${seq}${repeated ? ' (recorded before)' : ''}: ${what.length === 0 ? result.events.join(', ') : what.join(', ')}\n`;
  });
};
