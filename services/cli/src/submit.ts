import { fail } from '@stemma/errors';
import type { Author } from '@stemma/events';
import type { Step } from '@stemma/history';
import { lineageId, type Home, type Line, type Outcome } from '@stemma/home';
import { randomUUID } from 'node:crypto';
import { ACTING, actorOf, notesOf } from './actor.ts';
import type { Context } from './command.ts';
import { text, whole } from './options.ts';
import { printable, type Output } from './output.ts';

/** Options of every command that records something: a person's act, or a recorder's own record. */
export const RECORDING: readonly (readonly [syntax: string, description: string])[] = [
  ...ACTING,
  ['--recorder <name>', "record it as an agent's or a program's own instead: there is no actor then"],
  ['--command <id>', 'the id of the command: sent again, it has one effect (default: a new one)'],
  ['--expect <seq>', 'refuse if the newest frame of the lineage is another (exit 3)'],
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
    throw fail('E_USAGE', '--recorder is for an own record: it has no --actor and no --notes');
  return { by: { recorder } };
};

/**
 * Submits steps on a lineage as one command. Sent again under its id it finds its lineage, wherever a rollback has moved
 * the name since; `steps` may depend on it.
 */
export const submitSteps = async (
  context: Context,
  found: { readonly home: Home; readonly line: Line },
  steps: readonly Step[] | ((line: Line) => Promise<readonly Step[]>),
  options: Options,
): Promise<Outcome> => {
  const expected = whole(options, 'expect', { least: 0 });
  const given = text(options, 'command');
  const { home } = found;
  const line = given === undefined ? found.line : await home.lineages.lineOf(found.line, given);
  const made = typeof steps === 'function' ? await steps(line) : steps;
  return home.submit({
    id: given ?? randomUUID(),
    history: line.history,
    lineage: line.strand,
    ...(await writing(context, options)),
    ...(expected === undefined ? {} : { expected }),
    steps: [...made],
  });
};

/** Tells what a command came to: `{history, lineage, seq, position, repeated, ids, cycle, events}`. */
export const printOutcome = (output: Output, outcome: Outcome): Promise<void> => {
  const { history, strand, seq, events, repeated } = outcome;
  const ids = events.flatMap((event) => (event.type === 'NodeInserted' ? [event.node.id] : []));
  const snapshot = events.findLast((event) => event.type === 'SnapshotCommitted');
  const result = {
    history,
    lineage: lineageId(history, strand),
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
    return `@s${seq}${repeated ? ' (was there already)' : ''}: ${what.length === 0 ? result.events.join(', ') : what.join(', ')}\n`;
  });
};
