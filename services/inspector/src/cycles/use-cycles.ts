import type { SnapshotPage, SnapshotSummaryAnswer } from '@stemma/api';
import { useQuery, type Query } from '../asking/queries.ts';

const PAGE = 50;

/** The tip of a branch, and its newest snapshots: its cycles are `oldest` to `newest`. */
export const useHead = (history: string | null): Query<SnapshotPage> =>
  useQuery(
    history === null ? 'none' : `now/h/${history}/head`,
    (client) =>
      history === null ? new Promise<never>(() => undefined) : client.snapshots({ history, limit: PAGE }),
    history ?? 'none',
  );

/** The snapshot of a cycle: from the newest ones, or from the page of fifty that it is in. Undefined while it loads. */
export const useSnapshot = (head: SnapshotPage, cycle: number): SnapshotSummaryAnswer | undefined => {
  const loaded = head.snapshots.find((one) => one.cycle === cycle);
  const page = Math.floor(cycle / PAGE);
  const query = useQuery(
    loaded === undefined ? `now/h/${head.branch}/snapshots/${page}` : 'none',
    (client) =>
      loaded === undefined
        ? client.snapshots({ history: head.branch, limit: PAGE, before: (page + 1) * PAGE })
        : new Promise<never>(() => undefined),
    undefined,
    loaded === undefined ? 'snapshots' : undefined,
  );
  return (
    loaded ?? (query.state === 'done' ? query.value.snapshots.find((one) => one.cycle === cycle) : undefined)
  );
};

/** What is shown: the working state, or a reference; null while the newest snapshot is unknown. */
export type Looking = {
  readonly reference: string | undefined;
  readonly cycle: number | null;
  readonly following: boolean;
};

/** Resolves the reference in the address: a reference, `open`, or nothing for the newest snapshot. */
export const lookingAt = (head: Query<SnapshotPage>, at: string | null): Looking | null => {
  if (at !== null && at !== 'open') {
    const cycle = /^@c(\d{1,15})$/.exec(at)?.[1];
    return { reference: at, cycle: cycle === undefined ? null : Number(cycle), following: false };
  }
  if (at === 'open') return { reference: undefined, cycle: null, following: false };
  if (head.state !== 'done') return null;
  const { newest } = head.value;
  return newest === null
    ? { reference: undefined, cycle: null, following: true }
    : { reference: `@c${newest}`, cycle: newest, following: true };
};
