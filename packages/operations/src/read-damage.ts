import { compareCodePoints } from '@stemma/canonical';
import { DEFECTS } from '@stemma/history-store';
import { closedBy } from '@stemma/log';
import { decodeCheckpoint } from '@stemma/projector';
import type { Services } from './services.ts';

/** What a home does not show although it was recorded. */
export type KnownDamage = {
  /** Partitions of which nothing after a record is shown, until somebody acknowledges that it is damaged. */
  readonly closed: readonly { readonly partition: number; readonly offset: number }[];
  /** Histories that are damaged or defective: only what comes before that is shown. */
  readonly stopped: readonly string[];
};

/** The damage that the rows know of. Reads nothing of the log: cheap enough for every command and every page. */
export const readDamage = ({ projection }: Pick<Services, 'projection'>): Promise<KnownDamage> =>
  projection.read((view) => {
    const closed: { partition: number; offset: number }[] = [];
    const stopped = new Set(
      view
        .range(DEFECTS, { prefix: [] })
        // An erased history stops on purpose.
        .filter(({ value }) => value[1] !== 'E_HISTORY_ERASED')
        .map(({ key }) => key[0] as string),
    );
    for (const partition of view.partitions()) {
      const cursor = view.cursor(partition);
      if (cursor === null) continue;
      const { state } = decodeCheckpoint(cursor);
      const found = closedBy(state);
      if (found !== null) closed.push({ partition, offset: found.offset });
      for (const { history, affectsWholePartition } of state.damage)
        if (history !== null && !affectsWholePartition && !history.startsWith('log:')) stopped.add(history);
    }
    return { closed, stopped: [...stopped].sort(compareCodePoints) };
  });

/** What people should hear before they believe an answer: a sentence for each kind of damage. */
export const damageSentences = ({ closed, stopped }: KnownDamage): readonly string[] => [
  ...closed.map(
    ({ partition, offset }) =>
      `partition ${partition} is closed by the damaged record ${partition}@${offset}: nothing after it is shown until ` +
      `it is restored, or acknowledged with \`stemma ack ${partition}@${offset}\``,
  ),
  ...(stopped.length === 0
    ? []
    : [
        `${stopped.length === 1 ? 'a history is' : `${stopped.length} histories are`} damaged or defective ` +
          `(${stopped.slice(0, 3).join(', ')}${stopped.length > 3 ? ' …' : ''}): only what comes before is shown; ` +
          '`stemma verify` names the records',
      ]),
];
