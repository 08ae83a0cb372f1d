import { fail } from '@stemma/errors';
import type { BranchPosition } from '@stemma/events';
import { findSnapshot, type Position } from '@stemma/history-store';
import type { Projection } from '@stemma/projector';
import {
  presenceOf,
  readAncestryView,
  readNodeChanges,
  readTimeline,
  type TimelineEntry,
} from '@stemma/read-models';
import { defined } from '@stemma/values';
import { diffRequests } from '../calls/request-facts.ts';
import { readFrameEvents } from '../follow.ts';
import type { LoggedEvent } from '../read-types.ts';
import { openTimelineFormatter } from './timeline-formatter.ts';
import type { NodeTimelineEntry, Why } from './types.ts';

/**
 * The timeline of a node up to a position: what inserted, changed and removed it. Reads only rows of that node, however
 * long the history is.
 *
 * @throws E_NODE_NOT_FOUND if the history never had it, or no frame on the position's ancestor path inserted it
 */
export const whyNode = async (projection: Projection, position: Position, id: string): Promise<Why> => {
  const { history, branchId, seq } = position;
  const { timeline, presence } = await projection.read((rows) => {
    const ancestry = readAncestryView(rows, history, branchId, seq);
    const found = readTimeline(rows, ancestry, id);
    if (found.length === 0) {
      const otherChange = readNodeChanges(rows, history, id)[0];
      throw otherChange === undefined ? nodeUnknown(history, id) : nodeNotVisible(position, id, otherChange);
    }
    return { timeline: found, presence: presenceOf(rows, ancestry, id) };
  });
  const describe = openTimelineFormatter(projection, history);
  const entries: NodeTimelineEntry[] = [];
  for (const entry of timeline) {
    const redacted = setsContent(entry) ? await redactedIn(projection, history, entry.seq, id) : [];
    entries.push({
      ...(await describe(entry)),
      ...fieldsSetBy(entry),
      ...(redacted.length === 0 ? {} : { redacted }),
    });
  }
  const [added, ...rest] = entries as [NodeTimelineEntry, ...NodeTimelineEntry[]];
  const removed = rest.at(-1)?.explains === 'removed' ? (rest.pop() ?? null) : null;
  const snapshots = presence?.snapshots ?? null;
  return {
    node: id,
    position,
    present: removed === null,
    snapshots,
    added,
    changes: rest,
    removed,
    request: {
      first: snapshots === null ? null : await changesAt(projection, position, snapshots.first),
      gone:
        snapshots === null || removed === null
          ? null
          : await changesAt(projection, position, snapshots.last + 1),
    },
  };
};

/** What differs between the requests of the calls of a cycle and of the one before, on the way to a position. */
const changesAt = async (
  projection: Projection,
  { history, branchId, seq }: Position,
  cycle: number,
): Promise<Why['request']['first']> => {
  if (cycle < 2) return null;
  const [before, after] = await projection.read((rows) =>
    [cycle - 1, cycle].map((each) => findSnapshot(rows, history, branchId, seq, each)),
  );
  if (before?.cycle !== cycle - 1 || after?.cycle !== cycle) return null;
  return (await diffRequests(projection, history, before.seq, after.seq)) ?? null;
};

/** True for what brings content, of which something may have been taken out before it was recorded. */
const setsContent = ({ cause }: TimelineEntry): boolean =>
  cause.kind === 'import' || (cause.kind === 'mutation' && (cause.op === 'insert' || cause.op === 'replace'));

/** What was taken out of a node in a frame. */
const redactedIn = async (
  projection: Projection,
  history: string,
  seq: number,
  id: string,
): Promise<NonNullable<NodeTimelineEntry['redacted']>> => {
  const { event } = (await readFrameEvents(projection, history, seq)).at(-1) ?? {};
  if (event?.type !== 'ContentRedacted') return [];
  return event.redactions
    .filter(({ node }) => node === id)
    .map(({ rule, field, count }) => ({ rule, field, count }));
};

const fieldsSetBy = ({
  explains,
  parent,
  ttl,
  priority,
}: TimelineEntry): Pick<NodeTimelineEntry, 'explains' | 'parent' | 'ttl' | 'priority'> => ({
  explains,
  ...defined({ parent, ttl, priority }),
});

const nodeUnknown = (history: string, id: string): Error =>
  fail('E_NODE_NOT_FOUND', `the history ${history} never had a node ${JSON.stringify(id.slice(0, 600))}`, {
    id,
  });

const nodeNotVisible = ({ label, branchId }: Position, id: string, otherChange: BranchPosition): Error =>
  fail(
    'E_NODE_NOT_FOUND',
    `${label} of branch ${branchId} does not have ${JSON.stringify(id)}: frame ${otherChange.seq} of branch ${otherChange.branchId} added it`,
    { id, branchId: otherChange.branchId, seq: otherChange.seq },
  );

/** The events that named a node or changed it with another, on all branches: `limit` or a few more, in whole frames. */
export const listEventsOfNode = async (
  projection: Projection,
  history: string,
  id: string,
  { from = 0, limit = 1000 }: { readonly from?: number; readonly limit?: number } = {},
): Promise<readonly LoggedEvent[]> => {
  const nodeChanges = await projection.read((rows) => readNodeChanges(rows, history, id));
  if (nodeChanges.length === 0) throw nodeUnknown(history, id);
  const events: LoggedEvent[] = [];
  for (let i = 0; i < nodeChanges.length;) {
    const seq = nodeChanges[i]?.seq ?? 0;
    const indexes = new Set<number>();
    for (; nodeChanges[i]?.seq === seq; i++) indexes.add(nodeChanges[i]?.index ?? 0);
    if (seq < from) continue;
    if (events.length >= limit) break;
    const frame = await readFrameEvents(projection, history, seq);
    events.push(...frame.filter(({ index, event }) => indexes.has(index) || isRedactionOf(event, id)));
  }
  return events;
};

const isRedactionOf = (event: LoggedEvent['event'], id: string): boolean =>
  event.type === 'ContentRedacted' && event.redactions.some(({ node }) => node === id);
