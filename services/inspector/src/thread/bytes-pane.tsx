import { addressOf, ENDPOINTS } from '@stemma/api';
import { defined } from '@stemma/values';
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { indented } from '../parts/json-text.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { threadRanges, type BytePart } from './thread-ranges.ts';
import { usePosition } from '../tree/use-tree.ts';
import { grouped, plural } from '../parts/words.ts';

const MAX_CHARACTERS = 100_000;

type Choosing = { readonly chosen: string | null; readonly choose: (node: string) => void };

/**
 * The provider thread byte for byte, of which each message leads to its node; or the message list as OpenAI's API takes
 * it.
 */
export const BytesPane = ({
  history,
  reference,
  provider,
  ...choosing
}: Choosing & {
  readonly history: string;
  readonly reference: string | undefined;
  readonly provider: 'openai' | null;
}): ComponentChildren => {
  const input = {
    history,
    ...defined({ at: reference, provider: provider ?? undefined }),
  };
  const query = usePosition(history, reference, `thread/${provider ?? ''}`, (client) => client.thread(input));
  return (
    <Shown query={query} what="thread">
      {(text) =>
        provider === null ? (
          <Exact thread={text} href={addressOf(ENDPOINTS.thread, input)} {...choosing} />
        ) : (
          <Bytes
            words={plural(text.length, 'character')}
            href={addressOf(ENDPOINTS.thread, input)}
            isCut={text.length > MAX_CHARACTERS}
          >
            <SafeText text={indented(text).slice(0, MAX_CHARACTERS)} />
          </Bytes>
        )
      }
    </Shown>
  );
};

const Bytes = ({
  words,
  href,
  isCut,
  children,
}: {
  readonly words: string;
  readonly href: string;
  readonly isCut: boolean;
  readonly children: ComponentChildren;
}): ComponentChildren => (
  <div class="bytes">
    <p class="quiet bytes-head">
      <span>{words}</span>
      <a href={href} target="_blank" rel="noreferrer">
        exactly as sent
      </a>
    </p>
    <pre class="content json">
      {children}
      {isCut && <span class="cut">… the link above has the rest</span>}
    </pre>
  </div>
);

const Exact = ({
  thread,
  href,
  chosen,
  choose,
}: Choosing & { readonly thread: string; readonly href: string }): ComponentChildren => {
  const shown = useMemo(() => upTo(MAX_CHARACTERS, threadRanges(thread)), [thread]);
  useEffect(
    () => document.querySelector('.byte-range.is-chosen')?.scrollIntoView({ block: 'nearest' }),
    [shown, chosen],
  );
  return (
    <Bytes
      words={`${grouped(thread.length)} bytes, canonical JSON; each message leads to its node`}
      href={href}
      isCut={thread.length > MAX_CHARACTERS}
    >
      {shown.map((part, at) =>
        typeof part === 'string' ? (
          <SafeText key={at} text={part} />
        ) : (
          <span
            key={at}
            class={`byte-range${part.node === chosen ? ' is-chosen' : ''}`}
            role="button"
            tabIndex={0}
            aria-pressed={part.node === chosen}
            title={`Bytes ${grouped(part.from)} to ${grouped(part.to - 1)}`}
            onClick={() => choose(part.node)}
            onKeyDown={(event) => {
              if (event.key !== 'Enter') return;
              event.preventDefault();
              choose(part.node);
            }}
          >
            <SafeText text={part.text} />
          </span>
        ),
      )}
    </Bytes>
  );
};

/** The parts that begin within so many characters, the last one cut. */
const upTo = (limit: number, parts: readonly BytePart[]): readonly BytePart[] => {
  const shown: BytePart[] = [];
  let left = limit;
  for (const part of parts) {
    if (left <= 0) break;
    const text = typeof part === 'string' ? part : part.text;
    const cut = text.slice(0, left);
    shown.push(typeof part === 'string' ? cut : { ...part, text: cut });
    left -= text.length;
  }
  return shown;
};
