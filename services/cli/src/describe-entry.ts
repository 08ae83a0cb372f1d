import type { NodeTimelineEntry, TimelineEntryDescription } from '@stemma/queries';
import { oneLine, printable } from './output.ts';
import { time } from './time.ts';

type Set = Pick<NodeTimelineEntry, 'parent' | 'ttl' | 'priority'>;

/** What happened to a node, in words; `set` adds what was set by it. */
export const describeEntry = (
  id: string,
  { cause, cycle, until }: TimelineEntryDescription,
  set: Set = {},
): string => {
  switch (cause.kind) {
    case 'mutation':
      return MUTATIONS[cause.op](cause.by ?? '', set);
    case 'import':
      return `imported with an export${under(set)}${lasting(set)}`;
    case 'expiry':
      return 'expired: its ttl ran out';
    case 'cascade':
      return cause.why === 'contained'
        ? `removed with its container ${printable(cause.by)}, which expired`
        : `removed because it became empty: ${printable(cause.by)} was its last child`;
    case 'pruning':
      return `pruned by ${cause.rule}, rank ${cause.rank}`;
    case 'ageing': {
      const cycles = until === null || until === cycle ? `@c${cycle}` : `@c${cycle} … @c${until}`;
      return `aged at ${cycles}${set.ttl === undefined ? '' : `: ttl ${set.ttl ?? 'none'} left`}`;
    }
    case 'sealing':
      return cause.turn === id
        ? 'created as a turn: the content of the active head was sealed'
        : `sealed into the turn ${printable(cause.turn)}`;
    case 'hold':
      return `kept after its ttl by ${printable(cause.by)}, which refers to it`;
  }
};

const under = ({ parent }: Set): string => (parent == null ? '' : ` under ${printable(parent)}`);
const lasting = ({ ttl, priority }: Set): string =>
  (typeof ttl === 'number' ? `, ttl ${ttl}` : '') +
  (priority === undefined || priority === 0 ? '' : `, priority ${priority}`);

const MUTATIONS = {
  start: () => 'created with the history',
  insert: (_by: string, set: Set) => `inserted${under(set)}${lasting(set)}`,
  replace: () => 'replaced: other content or attributes',
  move: (_by: string, set: Set) => `moved${under(set)}`,
  carry: (by: string) => `moved with its container ${printable(by)}`,
  remove: (by: string) => (by === '' ? 'removed' : `removed with its container ${printable(by)}`),
  priority: (_by: string, { priority }: Set) =>
    priority === undefined ? 'given another priority' : `given the priority ${priority}`,
} as const;

/** Who did it, when, by which command, in which frame. */
export const describeSource = ({
  seq,
  index,
  branchId,
  author,
  at,
  command,
}: TimelineEntryDescription): string => {
  const by = 'recorder' in author ? author.recorder : `${author.actor} (actor)`;
  const line = branchId === 0 ? '' : ` ~${branchId}`;
  return `${seq}.${index}${line}  ${time(at)}  ${oneLine(by, 40)}  ${oneLine(command, 28)}`;
};
