import { shownToText, whereItDiffers, whyItDiffers } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { ChangedText } from '../parts/changed-text.tsx';
import type { ViewProps } from '../parts/page-view.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { callAddress, type RerunOfHistory } from './use-reruns.ts';

type Shown = {
  readonly rerun: RerunOfHistory;
  readonly go: ViewProps['go'];
};

/** What differs first: where, word by word, why, where the recording has it, and which calls show it. */
export const RerunDifference = ({ rerun, go }: Shown): ComponentChildren => {
  const { difference, details, counts } = rerun;
  if (difference === null)
    return (
      <>
        <h3>Nothing differs</h3>
        <p>
          {counts.live > 0
            ? 'All calls up to the live ones got their recorded answers.'
            : 'Each call got its recorded answer, byte for byte but for bound values.'}
        </p>
      </>
    );
  const { label, cause, node } = difference;
  const text = details?.difference ?? null;
  const described = {
    ...{ cause, message: difference.message, conflict: null },
    ...{ role: text?.role ?? null, name: text?.name ?? null, askedBy: text?.askedBy ?? null },
    ...{ a: text === null ? '' : text.recorded, b: text === null ? '' : text.now, gone: text?.gone ?? 0 },
  };
  const isCall = cause === 'extra' || cause === 'missing';
  return (
    <>
      <h3>
        <CallLink label={label} rerun={rerun} go={go} /> {isCall ? null : 'was shown something else'}
      </h3>
      {!isCall && (
        <p>
          <SafeText text={whereItDiffers(described)} />
        </p>
      )}
      {text !== null && !isCall && <ChangedText a={text.recorded ?? ''} b={text.now ?? ''} />}
      {text === null && !isCall && (
        <p class="quiet">This rerun was recorded without the texts that differ: run it again to see them.</p>
      )}
      {text?.isWhole === false && (
        <p class="quiet">
          The texts are long; only what is around the difference is recorded of the rerun. The whole recorded
          one is in the message below.
        </p>
      )}
      <dl class="facts">
        <dt>cause</dt>
        <dd>
          <SafeText text={whyItDiffers(described)} />
        </dd>
        {node !== null && (
          <>
            <dt>recorded as</dt>
            <dd>
              <NodeLink label={label} node={node} rerun={rerun} go={go} />
              {text?.by != null && (
                <>
                  by <EventLink by={text.by} rerun={rerun} go={go} />
                </>
              )}
            </dd>
          </>
        )}
        {text?.shownTo != null && (
          <>
            <dt>hung on it</dt>
            <dd>
              <SafeText text={shownToText(text.shownTo.first, text.shownTo.last, text.shownTo)} />
            </dd>
          </>
        )}
      </dl>
    </>
  );
};

const CallLink = ({ label, rerun, go }: Shown & { readonly label: string }): ComponentChildren => {
  const address = callAddress(label, rerun);
  return address === null ? (
    <SafeText text={label} />
  ) : (
    <button class="link" title="The recorded call" onClick={() => go({ ...address, show: null })}>
      <SafeText text={label} />
    </button>
  );
};

const NodeLink = ({
  label,
  node,
  rerun,
  go,
}: Shown & { readonly label: string; readonly node: string }): ComponentChildren => {
  const address = callAddress(label, rerun);
  return address === null ? (
    <SafeText text={node} />
  ) : (
    <button
      class="link"
      title="The message in the tree of the recorded call"
      onClick={() => go({ ...address, show: null, node })}
    >
      <SafeText text={node} />
    </button>
  );
};

const EventLink = ({ by, rerun, go }: Shown & { readonly by: string }): ComponentChildren => {
  const address = callAddress(by, rerun);
  return address === null ? (
    <SafeText text={by} />
  ) : (
    <button class="link" title="The position that recorded it" onClick={() => go({ ...address, show: null })}>
      <SafeText text={by} />
    </button>
  );
};

/** The results in whose place the recorded ones stood. */
export const WorldDifferences = ({ rerun, go }: Shown): ComponentChildren =>
  rerun.details?.world.map(({ call, tool, recorded, now }, i) => (
    <section key={i}>
      <h3>
        The world differs at <CallLink label={call} rerun={rerun} go={go} />
        <SafeText text={tool} /> gave something else
      </h3>
      <ChangedText a={recorded ?? ''} b={now ?? ''} />
      <p class="quiet">The recorded result stood in its place.</p>
    </section>
  )) ?? null;
