import { excerptOf } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { JsonView } from './json-view.tsx';
import { columnsOf, type ShownToolCall } from './read-tool-call.ts';
import { SafeText } from './safe-text.tsx';
import { plural, shortDuration } from './words.ts';
import '../style/tool-call.css';

/** So many fields or items are shown of each value; the rest is in the raw call. */
const MOST_SHOWN = 100;
const DEEPEST = 4;

/** A call of a tool, or its result: the name, arguments or result unfolded, how long it took, and all of it raw on demand. */
export const ToolCall = ({
  call,
  result,
  failed = false,
  duration = null,
}: {
  readonly call: Pick<ShownToolCall, 'name' | 'raw'> & { readonly input?: unknown };
  /** Of a result: what the tool gave back. */
  readonly result?: unknown;
  readonly failed?: boolean;
  /** Milliseconds. */
  readonly duration?: number | null;
}): ComponentChildren => {
  const [raw, setRaw] = useState(false);
  const isResult = result !== undefined;
  return (
    <section class={`tool-call${failed ? ' has-failed' : ''}`}>
      <header>
        <span class="tool-call-what">{failed ? '✕ failed' : isResult ? 'result' : 'tool'}</span>
        <b>
          <SafeText text={call.name} />
        </b>
        {duration !== null && <span class="quiet">{shortDuration(duration)}</span>}
        <button class="link" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          {raw ? 'unfolded' : 'raw'}
        </button>
      </header>
      {raw ? (
        <div class="tool-call-raw">
          <JsonView value={call.raw} />
        </div>
      ) : isResult ? (
        <div class={`tool-call-result${failed ? ' failure' : ''}`}>
          <Value value={result} depth={0} />
        </div>
      ) : (
        call.input !== null && <Value value={call.input} depth={0} />
      )}
    </section>
  );
};

/** A value unfolded: fields by their names, a list of like objects as a table, the rest as text. */
const Value = ({ value, depth }: { readonly value: unknown; readonly depth: number }): ComponentChildren => {
  if (typeof value === 'string') return <SafeText text={value} />;
  if (typeof value !== 'object' || value === null) return <SafeText text={String(value)} />;
  if (depth >= DEEPEST) return <SafeText text={excerptOf(value, 2_000)?.text ?? ''} />;
  if (Array.isArray(value)) return <Items list={value as readonly unknown[]} depth={depth} />;
  const fields = Object.entries(value as Readonly<Record<string, unknown>>);
  return (
    <dl class="tool-call-fields">
      {fields.slice(0, MOST_SHOWN).map(([name, field]) => (
        <div key={name}>
          <dt>
            <SafeText text={name} />
          </dt>
          <dd>
            <Value value={field} depth={depth + 1} />
          </dd>
        </div>
      ))}
      {fields.length > MOST_SHOWN && <p class="quiet">and {fields.length - MOST_SHOWN} more: raw</p>}
    </dl>
  );
};

const Items = ({
  list,
  depth,
}: {
  readonly list: readonly unknown[];
  readonly depth: number;
}): ComponentChildren => {
  const shown = list.slice(0, MOST_SHOWN);
  const more = list.length > shown.length && <p class="quiet">and {list.length - shown.length} more: raw</p>;
  const columns = columnsOf(shown);
  if (columns !== null)
    return (
      <>
        <table class="tool-call-table">
          <thead>
            <tr>
              {columns.map((name) => (
                <th key={name} scope="col">
                  <SafeText text={name} />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((row, i) => (
              <tr key={i}>
                {columns.map((name) => (
                  <td key={name}>
                    <Value value={(row as Readonly<Record<string, unknown>>)[name] ?? ''} depth={DEEPEST} />
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
        {more}
      </>
    );
  if (shown.every((item) => typeof item !== 'object' || item === null))
    return (
      <>
        <SafeText text={shown.map(String).join(', ')} />
        {more}
      </>
    );
  return (
    <details open={depth < 2 && list.length < 4}>
      <summary>{plural(list.length, 'item')}</summary>
      {shown.map((item, i) => (
        <Value key={i} value={item} depth={depth + 1} />
      ))}
      {more}
    </details>
  );
};
