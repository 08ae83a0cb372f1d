import type { Step } from '@stemma/history';
import { lineageId, type Home, type Line, type Outcome } from '@stemma/home';
import { randomUUID } from 'node:crypto';
import { text, whole } from './options.ts';
import { printable, type Output } from './output.ts';

/** Options of every command that records something. */
export const RECORDING: readonly (readonly [syntax: string, description: string])[] = [
  ['--recorder <name>', 'who records (default: cli)'],
  ['--command <id>', 'the id of the command: sent again, it has one effect (default: a new one)'],
  ['--expect <seq>', 'refuse if the newest frame of the lineage is another (exit 3)'],
];

type Options = Readonly<Record<string, unknown>>;

/** Submits steps on a history as one command of a recorder. */
export const submitSteps = async (
  { home, line: { history, strand } }: { readonly home: Home; readonly line: Line },
  steps: readonly Step[],
  options: Options,
): Promise<Outcome> => {
  const expected = whole(options, 'expect', { least: 0 });
  return home.submit({
    id: text(options, 'command') ?? randomUUID(),
    history,
    lineage: strand,
    by: { recorder: text(options, 'recorder') ?? 'cli' },
    ...(expected === undefined ? {} : { expected }),
    steps: [...steps],
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
