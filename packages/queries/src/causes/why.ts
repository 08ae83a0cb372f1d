import { fail } from '@stemma/errors';
import type { Position } from '@stemma/history-store';
import type { ServedRows } from '@stemma/projector';
import { presenceOf, timelineOf, touchesOfNode, vistaFrom, type Moment } from '@stemma/read-models';
import { frameEvents } from '../follow.ts';
import type { LoggedEvent } from '../read-types.ts';
import { openTeller } from './teller.ts';
import type { Why, WhyMoment } from './types.ts';

/**
 * The life of a node as seen from a position: how it came, what happened to it, how it went. Rows of that node are read
 * and nothing else, however long the history.
 *
 * @throws E_NODE_NOT_FOUND if the history never had it, or if it came on no frame that the position sees
 */
export const whyNode = async (projector: ServedRows, position: Position, id: string): Promise<Why> => {
  const { history, strand, seq } = position;
  const { timeline, presence } = await projector.read((rows) => {
    const vista = vistaFrom(rows, history, strand, seq);
    const found = timelineOf(rows, vista, id);
    if (found.length === 0) {
      const elsewhere = touchesOfNode(rows, history, id)[0];
      throw elsewhere === undefined ? unknown(history, id) : unseen(position, id, elsewhere);
    }
    return { timeline: found, presence: presenceOf(rows, vista, id) };
  });
  const tell = openTeller(projector, history);
  const told: WhyMoment[] = [];
  for (const moment of timeline) told.push({ ...(await tell(moment)), ...setBy(moment) });
  const [came, ...rest] = told as [WhyMoment, ...WhyMoment[]];
  const left = rest.at(-1)?.explains === 'removed' ? (rest.pop() ?? null) : null;
  return {
    node: id,
    position,
    present: left === null,
    snapshots: presence?.snapshots ?? null,
    came,
    then: rest,
    left,
  };
};

const setBy = ({
  explains,
  parent,
  ttl,
  priority,
}: Moment): Pick<WhyMoment, 'explains' | 'parent' | 'ttl' | 'priority'> => ({
  explains,
  ...(parent === undefined ? {} : { parent }),
  ...(ttl === undefined ? {} : { ttl }),
  ...(priority === undefined ? {} : { priority }),
});

const unknown = (history: string, id: string): Error =>
  fail('E_NODE_NOT_FOUND', `the history ${history} never had a node ${JSON.stringify(id.slice(0, 600))}`, {
    id,
  });

const unseen = (
  { label, strand }: Position,
  id: string,
  elsewhere: { readonly strand: number; readonly seq: number },
): Error =>
  fail(
    'E_NODE_NOT_FOUND',
    `${label} of lineage ${strand} does not know ${JSON.stringify(id)}: it came with frame ${elsewhere.seq} of lineage ${elsewhere.strand}`,
    { id, lineage: elsewhere.strand, seq: elsewhere.seq },
  );

/** The events that named a node or took it along, in all lineages: `limit` of them or a few more, whole frames at a time. */
export const eventsAbout = async (
  projector: ServedRows,
  history: string,
  id: string,
  { from = 0, limit = 1000 }: { readonly from?: number; readonly limit?: number } = {},
): Promise<readonly LoggedEvent[]> => {
  const touches = await projector.read((rows) => touchesOfNode(rows, history, id));
  if (touches.length === 0) throw unknown(history, id);
  const events: LoggedEvent[] = [];
  for (let i = 0; i < touches.length;) {
    const seq = touches[i]?.seq ?? 0;
    const indexes = new Set<number>();
    for (; touches[i]?.seq === seq; i++) indexes.add(touches[i]?.index ?? 0);
    if (seq < from) continue;
    if (events.length >= limit) break;
    const frame = await frameEvents(projector, history, seq);
    events.push(...frame.filter(({ index }) => indexes.has(index)));
  }
  return events;
};
