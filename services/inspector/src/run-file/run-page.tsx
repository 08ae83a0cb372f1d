import type { RunFile } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { QueriesContext, type Queries } from '../asking/queries.ts';
import { View as CallCard } from '../card/call-card.tsx';
import { lookingAt, useHead } from '../cycles/use-cycles.ts';
import { Filmstrip } from '../filmstrip/filmstrip.tsx';
import type { Live } from '../page/live.ts';
import { change, parseAddress, type Address, type Go } from '../page/address.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { plural } from '../parts/words.ts';

/** The filmstrip of a file, and the card of the call that is chosen. */
export const RunPage = ({
  file,
  queries,
}: {
  readonly file: RunFile;
  readonly queries: Queries;
}): ComponentChildren => (
  <QueriesContext.Provider value={queries}>
    <Page file={file} />
  </QueriesContext.Provider>
);

/** Nothing happens in a file. */
const NO_LIVE: Live = { version: () => 0, subscribe: () => () => undefined, state: () => 'offline' };

const Page = ({ file }: { readonly file: RunFile }): ComponentChildren => {
  const [address, setAddress] = useState<Address>(() => ({
    ...parseAddress(''),
    ...{ history: file.branch, at: `@c${file.to}`, show: 'call' },
  }));
  // There is one view: whatever leads elsewhere stays here.
  const go: Go = (to) =>
    setAddress((now) => ({ ...change(now, { ...to, history: file.branch }), show: 'call', dialog: null }));
  useEffect(() => {
    const pressed = ({ key, target }: KeyboardEvent): void => {
      if (target instanceof HTMLElement && target.closest('[role=slider], input') !== null) return;
      const cycle = Number(address.at?.slice(2));
      const to = cycle + (key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0);
      if (to !== cycle && to >= file.from && to <= file.to) go({ at: `@c${to}` });
    };
    addEventListener('keydown', pressed);
    return () => removeEventListener('keydown', pressed);
  }, [address.at]);
  const head = useHead(file.branch);
  const looking = lookingAt(head, address.at);
  return (
    <div class="run-file">
      <header class="run-head">
        <h1>
          <SafeText text={file.title} />
        </h1>
        <p class="quiet">
          {file.from === file.to ? `call ${file.from}` : `calls ${file.from} to ${file.to}`} ·{' '}
          {redactionWords(file.redacted)} · recorded by Stemma; the texts were written by others
        </p>
      </header>
      <Filmstrip
        address={address}
        history={file.branch.split(':')[0] ?? file.branch}
        branch={file.branch}
        looking={looking}
        go={go}
      />
      <main class="main" aria-label="The call">
        <CallCard
          address={{ ...address, history: file.branch }}
          head={head}
          looking={looking}
          live={NO_LIVE}
          go={go}
        />
      </main>
    </div>
  );
};

/** What a reader has to know before they pass it on. */
const redactionWords = (redacted: number | null): string =>
  redacted === null
    ? 'nothing redacted: no rules'
    : redacted === 0
      ? 'redacted by rules: nothing found'
      : `redacted by rules: ${plural(redacted, 'text')}`;
