import { addressOf, ENDPOINTS } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { indented } from './content.tsx';
import { SafeText } from './safe-text.tsx';
import { Shown } from './states.tsx';
import { usePosition } from './use-tree.ts';
import { grouped, plural } from './words.ts';

const MAX_CHARACTERS = 100_000;

/** The provider thread byte for byte, or the message list as OpenAI's API takes it. */
export const BytesPane = ({
  history,
  reference,
  provider,
}: {
  readonly history: string;
  readonly reference: string | undefined;
  readonly provider: 'openai' | null;
}): ComponentChildren => {
  const input = {
    history,
    ...(reference === undefined ? {} : { at: reference }),
    ...(provider === null ? {} : { provider }),
  };
  const query = usePosition(history, reference, `thread/${provider ?? ''}`, (client) => client.thread(input));
  return (
    <Shown query={query} what="thread">
      {(text) => (
        <div class="bytes">
          <p class="quiet bytes-head">
            <span>
              {provider === null
                ? `${grouped(text.length)} bytes, canonical JSON`
                : plural(text.length, 'character')}
            </span>
            <a href={addressOf(ENDPOINTS.thread, input)} target="_blank" rel="noreferrer">
              exactly as sent
            </a>
          </p>
          <pre class="content json">
            <SafeText text={(provider === null ? text : indented(text)).slice(0, MAX_CHARACTERS)} />
            {text.length > MAX_CHARACTERS && <span class="cut">… the link above has the rest</span>}
          </pre>
        </div>
      )}
    </Shown>
  );
};
