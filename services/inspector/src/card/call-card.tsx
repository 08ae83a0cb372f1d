import type { ComponentChildren } from 'preact';
import '../style/card.css';
import { useSnapshot } from '../cycles/use-cycles.ts';
import type { PageView, ViewProps } from '../parts/page-view.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { isoTime } from '../parts/words.ts';
import { HeldBar } from '../calls/held-bar.tsx';
import { DecidedColumn, GotBackColumn, useFollowing } from './decided-column.tsx';
import { ShownColumn } from './shown-column.tsx';

/** One call: what it was shown and what left, what the model decided, and what came back. */
export const View: PageView = (props) => {
  const { looking, head } = props;
  if (looking === null || head.state !== 'done') return <p class="note pending">Loading…</p>;
  return <Card {...props} looking={looking} page={head.value} />;
};

type CardProps = ViewProps & {
  readonly looking: NonNullable<ViewProps['looking']>;
  readonly page: Parameters<typeof useSnapshot>[0];
};

const Card = ({ address, looking, page, go }: CardProps): ComponentChildren => {
  const { history } = address;
  const { reference, cycle } = looking;
  const snapshot = useSnapshot(page, cycle ?? -1);
  const isDraft = reference === undefined;
  const next = cycle === null ? undefined : cycle === page.newest ? 'open' : `@c${cycle + 1}`;
  const following = useFollowing(history, isDraft ? undefined : next);
  const step = (by: number): void => {
    const last = page.newest ?? 0;
    const to = Math.max(page.oldest ?? 0, Math.min(last, (cycle ?? last + 1) + by));
    go({ at: `@c${to}` }, 'replace');
  };
  return (
    <section class="panel card" aria-label="The call">
      <HeldBar history={history} go={go} />
      <header class="card-head">
        <h2>
          <SafeText text={isDraft ? 'Next call' : cycle === null ? reference : `Call ${cycle}`} />
        </h2>
        <p class="quiet">
          {snapshot === undefined ? '' : isoTime(snapshot.at).replace('T', ' ').slice(0, 19)}
        </p>
        <span class="card-steps">
          <button
            class="plain"
            aria-label="The older call"
            title="The older call (←)"
            onClick={() => step(-1)}
          >
            ←
          </button>
          <button
            class="plain"
            aria-label="The newer call"
            title="The newer call (→)"
            onClick={() => step(1)}
          >
            →
          </button>
        </span>
      </header>
      <div class="card-columns">
        <ShownColumn history={history} looking={looking} since={address.since} open={address.node} go={go} />
        <DecidedColumn history={history} snapshot={snapshot} following={following} isDraft={isDraft} />
        <GotBackColumn following={following} />
      </div>
    </section>
  );
};
