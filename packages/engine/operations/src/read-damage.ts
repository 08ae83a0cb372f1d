import { compareCodePoints } from '@stemma/canonical';
import { DEFECTS } from '@stemma/history-store';
import { closedBy } from '@stemma/log';
import { decodeCheckpoint } from '@stemma/projector';
import { listRows } from '@stemma/row-store';
import type { Services } from './services.ts';

/** What a home has recorded but does not show because of damage. */
export type KnownDamage = {
  /** Partitions closed by a damaged record; nothing after its offset is shown until somebody acknowledges it. */
  readonly closed: readonly { readonly partition: number; readonly offset: number }[];
  /** Damaged records that may have been anybody's, and whose loss somebody acknowledged. */
  readonly lost: readonly { readonly partition: number; readonly offset: number }[];
  /** Damaged or defective histories; only what comes before the damage is shown. */
  readonly stopped: readonly string[];
  /** Histories whose keys are not in this home: nothing is wrong with their records. */
  readonly sealed: readonly string[];
};

/** False for a defect of a history whose records are whole: one that was erased on purpose, or whose key is elsewhere. */
export const isDamage = (code: unknown): boolean =>
  code !== 'E_HISTORY_SEALED' && code !== 'E_HISTORY_ERASED';

/** The damage that the rows know of. It does not read the log, so every command and every page can call it. */
export const readDamage = ({ projection }: Pick<Services, 'projection'>): Promise<KnownDamage> =>
  projection.read((view) => {
    const closed: { partition: number; offset: number }[] = [];
    const lost: { partition: number; offset: number }[] = [];
    const defects = listRows(view, DEFECTS, {}).map(({ history, code }) => [history, code] as const);
    const sealed = defects.filter(([, code]) => code === 'E_HISTORY_SEALED').map(([history]) => history);
    const stopped = new Set(defects.filter(([, code]) => isDamage(code)).map(([history]) => history));
    for (const partition of view.partitions()) {
      const cursor = view.cursor(partition);
      if (cursor === null) continue;
      const { state } = decodeCheckpoint(cursor);
      const found = closedBy(state);
      if (found !== null) closed.push({ partition, offset: found.offset });
      lost.push(...state.acknowledged.map((offset) => ({ partition, offset })));
      for (const { history, affectsWholePartition } of state.damage)
        if (history !== null && !affectsWholePartition && !history.startsWith('log:')) stopped.add(history);
    }
    return { closed, lost, stopped: [...stopped].sort(compareCodePoints), sealed };
  });

/** One sentence for each kind of damage, to print beside an answer that may lack something. */
export const damageSentences = ({
  closed,
  stopped,
  sealed,
}: Omit<KnownDamage, 'lost'>): readonly string[] => [
  ...closed.map(
    ({ partition, offset }) =>
      `partition ${partition} is closed by the damaged record ${partition}@${offset}: nothing after it is shown until ` +
      `it is restored, or acknowledged with \`stemma ack ${partition}@${offset}\``,
  ),
  ...(stopped.length === 0
    ? []
    : [
        `${these(stopped, 'damaged or defective')}: only what comes before is shown; \`stemma verify\` names the records`,
      ]),
  ...(sealed.length === 0
    ? []
    : [
        `${these(sealed, 'sealed')}: not shown, as ${sealed.length === 1 ? 'its key is' : 'their keys are'} not in the folder \`keys\` of this home`,
      ]),
];

/** One sentence for each partition with damaged records that an operator acknowledged. */
export const lostSentences = (lost: KnownDamage['lost']): readonly string[] =>
  [...Map.groupBy(lost, ({ partition }) => partition)].map(([partition, { length, [0]: first }]) => {
    const record = `${partition}@${first?.offset ?? '?'}`;
    return length === 1
      ? `the damaged record ${record} is lost and acknowledged: histories may lack its frame and what follows it; \`stemma verify\` names them`
      : `${length} damaged records of partition ${partition}, the first ${record}, are lost and acknowledged: histories may lack their frames and what follows them; \`stemma verify\` names them`;
  });

const these = (histories: readonly string[], are: string): string =>
  `${histories.length === 1 ? 'a history is' : `${histories.length} histories are`} ${are} ` +
  `(${histories.slice(0, 3).join(', ')}${histories.length > 3 ? ' …' : ''})`;
