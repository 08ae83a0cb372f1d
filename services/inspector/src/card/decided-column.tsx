import { followingOf, fromWireJson, type SnapshotSummaryAnswer, type TreeNodeAnswer } from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useQuery, type Query } from '../asking/queries.ts';
import { Shown } from '../asking/states.tsx';
import { CallBar } from '../calls/call-bar.tsx';
import { Content } from '../parts/content.tsx';
import { readToolCall, valueOfExcerpt } from '../parts/read-tool-call.ts';
import { RecordedAnswer } from '../parts/recorded-answer.tsx';
import { ToolCall } from '../parts/tool-call.tsx';
import { plural } from '../parts/words.ts';
import { TAIL, useTree } from '../tree/use-tree.ts';

type Following = ReturnType<typeof followingOf>;

const NOTHING: Following = { decided: [], back: [] };

/** The messages that followed a call. @param next the call after it, or `open`; undefined: the call was not made yet */
export const useFollowing = (history: string, next: string | undefined): Query<Following> => {
  const query = useTree(history, next === 'open' ? undefined : (next ?? '@t0'), TAIL);
  if (next === undefined) return { state: 'done', value: NOTHING, stale: false };
  return query.state === 'done' ? { ...query, value: followingOf(query.value) } : query;
};

/** What the model answered: the recorded answer, or the messages that it became. */
export const DecidedColumn = ({
  history,
  snapshot,
  following,
  isDraft,
}: {
  readonly history: string;
  readonly snapshot: SnapshotSummaryAnswer | undefined;
  readonly following: Query<Following>;
  readonly isDraft: boolean;
}): ComponentChildren => (
  <section class="card-column" aria-label="Decided">
    <header>
      <h3>Decided</h3>
    </header>
    <div class="scroll card-body" tabIndex={0} role="region" aria-label="Decided, content">
      {isDraft ? (
        <p class="quiet">This call was not made yet: the model would be shown what stands here.</p>
      ) : (
        <>
          <RecordedOrFollowing history={history} snapshot={snapshot} following={following} />
          {snapshot !== undefined && <CallBar snapshot={snapshot} />}
        </>
      )}
    </div>
  </section>
);

const RecordedOrFollowing = ({
  history,
  snapshot,
  following,
}: {
  readonly history: string;
  readonly snapshot: SnapshotSummaryAnswer | undefined;
  readonly following: Query<Following>;
}): ComponentChildren => {
  const call = snapshot?.call ?? null;
  const query = useQuery(call === null ? 'none' : `now/h/${history}/attempt/${call.attempt_id}`, (client) =>
    call === null
      ? new Promise<never>(() => undefined)
      : client.attempt({ history: history.split(':')[0] ?? history, attempt: call.attempt_id }),
  );
  const whole = call !== null && query.state === 'done' && !('method' in query.value) ? query.value : null;
  if (whole !== null && whole.answer !== null) return <RecordedAnswer answer={whole.answer} />;
  return (
    <Shown query={following} what="the answer">
      {({ decided }) =>
        decided.length === 0 ? (
          <p class="quiet">No answer is recorded.</p>
        ) : (
          decided.map((node) => <DecidedNode key={node.id} node={node} />)
        )
      }
    </Shown>
  );
};

const DecidedNode = ({ node }: { readonly node: TreeNodeAnswer }): ComponentChildren => {
  const call = node.thread?.kind === 'call' ? readToolCall(valueOfExcerpt(node.content)) : null;
  if (call !== null) return <ToolCall call={call} />;
  const isThought = node.thread?.kind === 'thinking' || node.thread?.kind === 'reasoning';
  return (
    <div class={`decided-text${isThought ? ' is-thought' : ''}`}>
      {node.content === null ? <span class="quiet">no content</span> : <Content content={node.content} />}
    </div>
  );
};

/** The results of the tools that the call asked for. */
export const GotBackColumn = ({ following }: { readonly following: Query<Following> }): ComponentChildren => (
  <section class="card-column" aria-label="Got back">
    <header>
      <h3>Got back</h3>
      {following.state === 'done' && (
        <span class="quiet">{plural(following.value.back.length, 'result')}</span>
      )}
    </header>
    <div class="scroll card-body" tabIndex={0} role="region" aria-label="Got back, content">
      <Shown query={following} what="results">
        {({ decided, back }) =>
          back.length === 0 ? (
            <p class="quiet">Nothing.</p>
          ) : (
            back.map((node, i) => (
              <ToolCall
                key={node.id}
                call={{ name: toolOf(decided, i), raw: valueOfExcerpt(node.content) }}
                result={resultOf(node)}
                failed={node.failed === true}
              />
            ))
          )
        }
      </Shown>
    </div>
  </section>
);

/** Results come in the order of their calls. */
const toolOf = (decided: readonly TreeNodeAnswer[], index: number): string => {
  const calls = decided.flatMap((node) =>
    node.thread?.kind === 'call' ? [readToolCall(valueOfExcerpt(node.content))?.name ?? ''] : [],
  );
  return calls[index] ?? '';
};

/** Results are often JSON in a text. */
const resultOf = (node: TreeNodeAnswer): unknown => {
  const content = valueOfExcerpt(node.content);
  if (typeof content !== 'string' || !/^\s*[[{]/.test(content)) return content ?? '';
  try {
    return fromWireJson(content);
  } catch {
    return content;
  }
};
