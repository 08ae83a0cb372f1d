import { compareCodePoints } from '@stemma/canonical';
import { DEFECTS } from '@stemma/history-store';
import { closedBy } from '@stemma/log';
import { decodeCheckpoint } from '@stemma/projector';
import type { Services } from './services.ts';

/** What a home has recorded but does not show because of damage. */
export type KnownDamage = {
  /** Partitions closed by a damaged record; nothing after its offset is shown until somebody acknowledges it. */
  readonly closed: readonly { readonly partition: number; readonly offset: number }[];
  /** Damaged or defective histories; only what comes before the damage is shown. */
  readonly stopped: readonly string[];
};

/** The damage that the rows know of. It does not read the log, so every command and every page can call it. */
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

/** One sentence for each kind of damage, to print beside an answer that may lack something. */
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
