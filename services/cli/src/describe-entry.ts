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
      return `came in with an export${under(set)}${lasting(set)}`;
    case 'expiry':
      return 'expired: its ttl was over';
    case 'cascade':
      return cause.why === 'contained'
        ? `went with ${printable(cause.by)}, which it lay in and which expired`
        : `went because it was emptied: ${printable(cause.by)} was the last in it`;
    case 'pruning':
      return `pruned by ${cause.rule}, number ${cause.rank} to go`;
    case 'ageing': {
      const cycles = until === null || until === cycle ? `@c${cycle}` : `@c${cycle} … @c${until}`;
      return `aged at ${cycles}${set.ttl === undefined ? '' : `: ttl ${set.ttl ?? 'none'} left`}`;
    }
    case 'sealing':
      return cause.turn === id
        ? 'came as a turn: what lay in the head was sealed'
        : `sealed: lies under the turn ${printable(cause.turn)}`;
    case 'hold':
      return `due, but held by ${printable(cause.by)}, which refers to it`;
  }
};

const under = ({ parent }: Set): string => (parent == null ? '' : ` under ${printable(parent)}`);
const lasting = ({ ttl, priority }: Set): string =>
  (typeof ttl === 'number' ? `, ttl ${ttl}` : '') +
  (priority === undefined || priority === 0 ? '' : `, priority ${priority}`);

const MUTATIONS = {
  start: () => 'came with the history',
  insert: (_by: string, set: Set) => `inserted${under(set)}${lasting(set)}`,
  replace: () => 'replaced: other content or attributes',
  move: (_by: string, set: Set) => `moved${under(set)}`,
  carry: (by: string) => `moved along with ${printable(by)}, which it lies in`,
  remove: (by: string) => (by === '' ? 'removed' : `removed with ${printable(by)}, which it lay in`),
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
  return `${seq}.${index}${line}  ${time(at)}  ${oneLine(by, 40)}  ${oneLine(command, 60)}`;
};
