import { defined } from '@stemma/values';
import type { ComponentChildren } from 'preact';
import { Shown } from '../asking/states.tsx';
import { SafeText } from '../parts/safe-text.tsx';
import '../style/pool.css';
import { useQuery } from '../asking/queries.ts';
import type { PageView, ViewProps } from '../parts/page-view.ts';
import { PoolMessages } from './pool-messages.tsx';
import { PoolRounds } from './pool-rounds.tsx';
import { PoolVerdict } from './pool-verdict.tsx';

const PARTS = [
  [null, 'Messages and map'],
  ['rounds', 'Figures over rounds'],
  ['verdict', 'Verdict'],
] as const;

/** A pool: its messages as a list and a map, its figures over rounds, and whether branches differ. */
export const View: PageView = (props) => {
  const { history, at } = props.address;
  /** A pool is shown as it stands, with what its newest round added, unless a position is chosen. */
  const reference = at === null || at === 'open' ? undefined : at;
  const rows = useQuery(
    `now/h/${history}/pool-rows/${reference ?? ''}`,
    (client) => client.poolRows({ history, ...defined({ at: reference }) }),
    `pool-rows/${history}`,
  );
  if (rows.state === 'failed' && rows.error.code === 'E_NOT_A_POOL') return <NoPool {...props} />;
  const part = PARTS.find(([name]) => name === props.address.part)?.[0] ?? null;
  return (
    <div class="pool view-scroll">
      <div class="tabs" role="group" aria-label="Part of the pool">
        {PARTS.map(([name, words]) => (
          <button
            key={words}
            class="tab"
            aria-pressed={part === name}
            onClick={() => props.go({ part: name })}
          >
            {words}
          </button>
        ))}
        {at !== null && (
          <button class="plain" onClick={() => props.go({ at: null })} title="Show what the pool says now">
            at <SafeText text={at} />: show the newest
          </button>
        )}
      </div>
      <Shown query={rows} what="messages of the pool">
        {(pool) =>
          part === 'rounds' ? (
            <PoolRounds {...props} reference={reference} />
          ) : part === 'verdict' ? (
            <PoolVerdict {...props} />
          ) : pool.rows.length === 0 ? (
            <div class="note">
              <p>This pool has no message yet. Whoever adds one intervenes:</p>
              <pre>
                ./stemma inject <SafeText text={history} /> 'The sea keeps what it is given.'
              </pre>
            </div>
          ) : (
            <PoolMessages {...props} pool={pool} reference={reference} />
          )
        }
      </Shown>
    </div>
  );
};

const NoPool = ({ address }: ViewProps): ComponentChildren => (
  <div class="note">
    <p>
      <SafeText text={address.history} /> is no pool: nothing in it is drawn from messages in rounds. This
      starts one, and makes ten rounds with a mind that needs no network:
    </p>
    <pre>
      ./stemma pool init sea --messages samples/seeds.txt --sample-size 3 --seed 7{'\n'}
      ./stemma run sea --rounds 10
    </pre>
  </div>
);
