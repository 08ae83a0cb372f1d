import type { SnapshotPage } from '@stemma/api';
import type { StemmaError } from '@stemma/errors';
import type { ComponentChildren } from 'preact';
import { useQuery, type Query } from '../asking/queries.ts';
import { Failure } from '../asking/states.tsx';
import type { Looking } from '../cycles/use-cycles.ts';
import { SafeText } from '../parts/safe-text.tsx';
import type { Go } from './address.ts';

/** Why the page cannot show what its address names. */
export type Fault = {
  readonly kind: 'server' | 'history' | 'position';
  readonly error: StemmaError;
};

/** What is wrong with the history and the position in the address; null: nothing, or the server did not say yet. */
export const useFault = (
  history: string | null,
  {
    histories,
    head,
    looking,
  }: {
    readonly histories: Query<unknown>;
    readonly head: Query<SnapshotPage>;
    readonly looking: Looking | null;
  },
): Fault | null => {
  const [oldest, newest] = head.state === 'done' ? [head.value.oldest, head.value.newest] : [null, null];
  const { reference, cycle } = looking ?? { reference: undefined, cycle: null };
  const isKnown = cycle !== null && oldest !== null && newest !== null && cycle >= oldest && cycle <= newest;
  const asks = history !== null && head.state === 'done' && reference !== undefined && !isKnown;
  const position = useQuery(asks ? `now/h/${history}/${reference}/config` : 'none', (client) =>
    asks ? client.config({ history, at: reference }) : new Promise<never>(() => undefined),
  );
  if (history === null && histories.state === 'failed') return { kind: 'server', error: histories.error };
  if (head.state === 'failed')
    return { kind: head.error.code === 'E_IO' ? 'server' : 'history', error: head.error };
  return asks && position.state === 'failed' ? { kind: 'position', error: position.error } : null;
};

/** A page of its own for an address that shows nothing: what is wrong, and what to do next. */
export const FaultPage = ({
  fault: { kind, error },
  head,
  go,
}: {
  readonly fault: Fault;
  readonly head: Query<SnapshotPage>;
  readonly go: Go;
}): ComponentChildren => {
  const newest = head.state === 'done' ? head.value.newest : null;
  return (
    <section class="panel fault-page" aria-labelledby="fault-title">
      <h2 id="fault-title">{TITLES[kind]}</h2>
      {kind === 'server' ? (
        <div role="alert">
          <p>
            <SafeText text={error.message} />. It may have been stopped. Nothing recorded is lost.
          </p>
          <p>Start it again; this page connects by itself:</p>
          <pre>./stemma up</pre>
        </div>
      ) : (
        <Failure error={error} />
      )}
      {kind === 'position' && head.state === 'done' && (
        <p class="quiet">
          {newest === null
            ? 'This branch has no call yet, only its working state.'
            : `This branch has the calls @c${head.value.oldest ?? 0} to @c${newest}. A position may be of another branch.`}
        </p>
      )}
      {kind === 'history' && (
        <p class="quiet">It may lie in another home (--home), or its branch may have another name.</p>
      )}
      <p class="fault-actions">
        {kind === 'position' && (
          <button class="plain" onClick={() => go({ at: null, node: null, since: null })}>
            {newest === null ? 'Show the working state' : `Show the newest call, @c${newest}`}
          </button>
        )}
        {kind === 'server' ? (
          <button class="plain" onClick={() => location.reload()}>
            Try again
          </button>
        ) : (
          <>
            <button class="plain" onClick={() => go({ show: 'runs', history: null })}>
              All runs
            </button>
            <button class="plain" onClick={() => go({ find: '' })}>
              Search in all histories
            </button>
          </>
        )}
      </p>
    </section>
  );
};

const TITLES: Readonly<Record<Fault['kind'], string>> = {
  server: 'The server does not answer',
  history: 'This history cannot be shown',
  position: 'This position cannot be shown',
};
