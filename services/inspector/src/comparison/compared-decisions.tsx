import {
  fromWireJson,
  type AnswerOf,
  type DecisionAnswer,
  type DecisionPairAnswer,
  type QUESTIONS,
} from '@stemma/api';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { Empty, Shown } from '../asking/states.tsx';
import { useQuery } from '../asking/queries.ts';
import { SafeText } from '../parts/safe-text.tsx';
import type { ViewProps } from '../parts/page-view.ts';
import { ToolCall } from '../parts/tool-call.tsx';
import { VirtualList, optionProps } from '../parts/virtual-list.tsx';
import { DiffedText, wordRuns } from '../parts/word-diff.tsx';
import { grouped } from '../parts/words.ts';

type Decisions = AnswerOf<typeof QUESTIONS.decisions>;
type How = DecisionPairAnswer['how'];

const WORDS: Readonly<Record<How, string>> = {
  same: '= same',
  words: 'other words',
  arguments: 'other arguments',
  tool: 'other tool',
  'only-a': 'only in A',
  'only-b': 'only in B',
};

const ROW = 29;

type Props = {
  readonly history: string;
  readonly a: string;
  readonly b: string;
  /** The index of the pair that is opened; null: the first that decides otherwise. */
  readonly row: string | null;
  readonly go: ViewProps['go'];
};

/** What the models decided on two branches, call by call; a pair is opened beside. */
export const ComparedDecisions = ({ history, a, b, row, go }: Props): ComponentChildren => {
  const query = useQuery(`now/h/${history}/decisions/${a}/${b}`, (client) =>
    client.decisions({ history, a, b, limit: 2_000, excerpt: 4_000 }),
  );
  return (
    <Shown query={query} what="decisions">
      {(found) =>
        found.total === 0 ? (
          <Empty>
            <p>No call is recorded on either side.</p>
          </Empty>
        ) : (
          <Pairs found={found} row={row} go={go} />
        )
      }
    </Shown>
  );
};

/** The row that the address names, else the first that decides otherwise, else the first. */
const chosenIn = ({ pairs, first }: Decisions, row: string | null): number => {
  const given = row !== null && /^\d{1,6}$/.test(row) ? Number(row) : (first ?? 0);
  return Math.min(given, pairs.length - 1);
};

const differs = ({ how }: DecisionPairAnswer): boolean => how !== 'same' && how !== 'words';

const Pairs = ({
  found,
  row,
  go,
}: {
  readonly found: Decisions;
  readonly row: string | null;
  readonly go: Props['go'];
}): ComponentChildren => {
  const { pairs, first, counts } = found;
  const chosen = chosenIn(found, row);
  const choose = (index: number): void => go({ filter: String(index) }, 'replace');
  const next = pairs.findIndex((pair, i) => i > chosen && differs(pair));
  const jump = (): void => choose(next === -1 ? (first ?? chosen) : next);
  useNextKey(jump);
  const pair = pairs[chosen];
  return (
    <div class="decisions">
      <section class="panel decisions-list" aria-label="Decisions">
        <header class="panel-head">
          <h2>
            A {grouped(found.a.calls)} calls, B {grouped(found.b.calls)} calls
          </h2>
          <span class="quiet decisions-counts">
            {(Object.keys(WORDS) as How[])
              .filter((how) => counts[how] > 0)
              .map((how) => `${grouped(counts[how])} ${WORDS[how].replace('= ', '')}`)
              .join(' · ')}
          </span>
          <button
            class="plain"
            onClick={jump}
            disabled={first === null}
            title="The next different decision (n)"
          >
            Next difference <kbd>n</kbd>
          </button>
        </header>
        <VirtualList
          label="Decisions of A and B"
          count={pairs.length}
          rowHeight={ROW}
          selected={chosen}
          row={(index) => {
            const one = pairs[index];
            return one === undefined ? null : (
              <button
                {...optionProps(index, pairs.length, index === chosen)}
                class={`decision-row how-${one.how}${index === first ? ' is-first' : ''}`}
                onClick={() => choose(index)}
              >
                <span class="quiet num">{one.a?.label ?? ''}</span>
                <Words decision={one.a} />
                <span class="decision-how">{index === first ? `▼ ${WORDS[one.how]}` : WORDS[one.how]}</span>
                <Words decision={one.b} />
                <span class="quiet num">{one.b?.label ?? ''}</span>
              </button>
            );
          }}
        />
      </section>
      {pair !== undefined && <Opened pair={pair} found={found} go={go} />}
    </div>
  );
};

/** `n` goes to the next difference while decisions are compared; everywhere else it finds nodes. */
const useNextKey = (jump: () => void): void => {
  useEffect(() => {
    const pressed = (event: KeyboardEvent): void => {
      const isTyped =
        event.target instanceof HTMLElement && event.target.closest('input, select, textarea, dialog');
      if (event.key !== 'n' || event.ctrlKey || event.metaKey || event.altKey || isTyped) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      jump();
    };
    addEventListener('keydown', pressed, { capture: true });
    return () => removeEventListener('keydown', pressed, { capture: true });
  });
};

const Words = ({ decision }: { readonly decision: DecisionAnswer | null }): ComponentChildren => {
  if (decision === null) return <span class="decision-none" aria-label="nothing" />;
  const { what, text, calls } = decision;
  if (calls.length === 0)
    return (
      <span class="decision-words">
        <b class="is-answer">{what === '' ? 'not recorded' : 'answer'}</b>{' '}
        <SafeText text={text.slice(0, 200)} />
      </span>
    );
  return (
    <span class="decision-words">
      {calls.map(({ name, input, failed }, i) => (
        <span key={i}>
          <b class={failed ? 'is-failed' : 'is-tool'}>
            {failed && '✕ '}
            <SafeText text={name} />
          </b>{' '}
          <SafeText text={valuesOf(input)} />{' '}
        </span>
      ))}
    </span>
  );
};

const opened = (json: string): unknown => {
  try {
    return fromWireJson(json);
  } catch {
    return json;
  }
};

/** The values of arguments without their names, as far as a line has room. */
const valuesOf = (input: string): string => {
  const value = opened(input);
  if (typeof value !== 'object' || value === null) return input.slice(0, 200);
  return Object.values(value)
    .map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
    .join(', ')
    .slice(0, 200);
};

const Opened = ({
  pair: { how, a, b },
  found,
  go,
}: {
  readonly pair: DecisionPairAnswer;
  readonly found: Decisions;
  readonly go: Props['go'];
}): ComponentChildren => {
  const runs = a !== null && b !== null && a.text !== b.text ? wordRuns(a.text, b.text) : null;
  return (
    <section class="panel decisions-pair" aria-label="The chosen pair">
      <header class="panel-head">
        <h2>{WORDS[how]}</h2>
      </header>
      <div class="scroll decisions-opened" tabIndex={0} role="region" aria-label="The chosen pair, content">
        {(['a', 'b'] as const).map((side) => {
          const decision = side === 'a' ? a : b;
          return (
            <div key={side} class="decided-side">
              <h3>
                {side.toUpperCase()}{' '}
                {decision !== null && (
                  <button
                    class="link"
                    onClick={() => go({ history: found[side].branch, at: decision.label, show: 'call' })}
                  >
                    {decision.label}
                  </button>
                )}
              </h3>
              {decision === null ? (
                <p class="quiet">Nothing stands here: the other side decided once more.</p>
              ) : (
                <OneSide decision={decision} runs={runs} side={side} />
              )}
            </div>
          );
        })}
      </div>
    </section>
  );
};

const OneSide = ({
  decision: { text, calls, what },
  runs,
  side,
}: {
  readonly decision: DecisionAnswer;
  readonly runs: ReturnType<typeof wordRuns> | null;
  readonly side: 'a' | 'b';
}): ComponentChildren => (
  <>
    {what === '' && <p class="quiet">What was decided is not recorded.</p>}
    {text !== '' &&
      (runs === null ? (
        <pre class="content text">
          <SafeText text={text} />
        </pre>
      ) : (
        <DiffedText runs={runs} side={side} />
      ))}
    {calls.map(({ name, input, result, failed }, i) => (
      <div key={i}>
        <ToolCall call={{ name, input: opened(input), raw: { name, input: opened(input) } }} />
        {result !== null && (
          <ToolCall call={{ name, raw: opened(result) }} result={opened(result)} failed={failed} />
        )}
      </div>
    ))}
  </>
);
