import type { Home } from '@stemma/home';
import type { NewObservation } from '@stemma/queries';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openObserver } from '../src/observer.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

type Recorded = {
  readonly branchId: number;
  readonly actor: string;
  readonly looks: readonly NewObservation[];
};

/** A home of one history, in which `@sN` is a position, that only keeps what is to be recorded. */
const watched = () => {
  const recorded: Recorded[] = [];
  const home = {
    find: (history: string) => Promise.resolve({ history, branchId: 0, branch: history }),
    position: (_: object, ref = '@s99') => {
      const seq = Number(/@s(\d+)$/.exec(ref)?.[1] ?? NaN);
      return Promise.resolve({ history: 'h', branchId: 0, seq, cycle: null, label: ref });
    },
    branches: {
      isObserved: () => Promise.resolve(true),
      observe: ({ branchId }: { branchId: number }, actor: string, looks: readonly NewObservation[]) => {
        recorded.push({ branchId, actor, looks });
        return Promise.resolve();
      },
    },
  };
  return { recorded, observer: openObserver(home as unknown as Home, (error) => expect(error).toBeNull()) };
};

test(
  'an observation by selector is recorded at the position that the selector names, else at that of the request',
  { tags: ['pool:Observations'] },
  async () => {
    const { recorded, observer } = watched();
    for (const input of [
      { selector: '@s7 ^seq .cb' },
      { selector: 'other@s8 .cb' },
      { selector: '@s6 .cb', at: '@s3' },
      { selector: '.cb' },
      { at: '@s4' },
      { at: '@s4', node: 'n1' },
      {},
    ])
      await observer.see('select', 'Ada', { history: 'h', ...input });
    await observer.flush();
    expect(recorded.map(({ looks }) => looks.map(({ what, position }) => [what, position.seq]))).toEqual([
      [
        ['@s7 ^seq .cb', 7],
        ['other@s8 .cb', 8],
        ['@s6 .cb', 6],
        ['.cb', 99],
        ['@s4', 4],
        ['#n1', 4],
        ['select', 99],
      ],
    ]);
  },
);

test(
  'observations are recorded together after a second; 1,000 different ones are recorded at once',
  { tags: ['pool:Observations'] },
  async () => {
    const { recorded, observer } = watched();
    const look = (seq: number, actor = 'Ada') =>
      observer.see('thread', actor, { history: 'h', at: `@s${seq}` });
    for (let seq = 1; seq < 1_000; seq++) await look(seq);
    for (let i = 0; i < 5; i++) await look(7);
    expect(recorded).toEqual([]);
    await look(1, 'Bo');
    expect(recorded.map(({ actor, looks }) => [actor, looks.length])).toEqual([
      ['Ada', 999],
      ['Bo', 1],
    ]);
    expect(recorded[0]?.looks[6]).toMatchObject({ what: '@s7', times: 6 });
    await look(1);
    await vi.advanceTimersByTimeAsync(999);
    expect(recorded).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(recorded).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(recorded).toHaveLength(3);
  },
);

test(
  'requests that observe nothing, and those of a history that records no observations, are not recorded',
  { tags: ['pool:Observations'] },
  async () => {
    const { recorded, observer } = watched();
    await observer.see('history', 'Ada', { history: 'h' });
    await observer.flush();
    expect(recorded).toEqual([]);
  },
);
