import { fromWireJson, toWireJson } from '@stemma/api';
import { diffArrays } from 'diff';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { indented } from '../parts/json-text.ts';
import { SafeText } from '../parts/safe-text.tsx';
import { Shown } from '../asking/states.tsx';
import { useQuery } from '../asking/queries.ts';
import { grouped, plural } from '../parts/words.ts';
import { branchOf, Folded, type ShownComparison } from './comparison-parts.tsx';

/** More differing lines than this are no alignment any more. */
const MOST_EDITS = 3_000;
/** Lines of a run that are shown without being asked for. */
const FEW = 400;

/** The bytes of both threads, a message on each line, or the message lists of a provider's API, indented: as lines of a patch. */
export const ComparedBytes = ({
  comparison: { a, b },
  provider,
}: {
  readonly comparison: ShownComparison;
  readonly provider: 'openai' | null;
}): ComponentChildren => {
  const given = provider === null ? {} : { provider };
  const [historyA, historyB] = [branchOf(a), branchOf(b)];
  const [atA, atB] = [`@s${a.position.seq}`, `@s${b.position.seq}`];
  const query = useQuery(`now/h/${historyA}/threads/${provider ?? ''}/${atA}/${historyB}/${atB}`, (client) =>
    Promise.all([
      client.thread({ history: historyA, at: atA, ...given }),
      client.thread({ history: historyB, at: atB, ...given }),
    ]),
  );
  return (
    <Shown query={query} what="threads">
      {([textA, textB]) => <Lines a={textA} b={textB} isList={provider !== null} />}
    </Shown>
  );
};

/** A list of messages as lines: one for each, or as many as its indentation makes. */
const linesOf = (text: string, isList: boolean): readonly string[] => {
  if (isList) return indented(text).split('\n');
  try {
    return (fromWireJson(text) as readonly unknown[]).map((message) => toWireJson(message));
  } catch {
    return [text];
  }
};

const Lines = ({
  a,
  b,
  isList,
}: {
  readonly a: string;
  readonly b: string;
  readonly isList: boolean;
}): ComponentChildren => {
  const hunks = useMemo(() => {
    const [linesA, linesB] = [[...linesOf(a, isList)], [...linesOf(b, isList)]];
    const found = diffArrays(linesA, linesB, { maxEditLength: MOST_EDITS });
    return (
      found ?? [
        { value: linesA, removed: true, added: false, count: linesA.length },
        { value: linesB, removed: false, added: true, count: linesB.length },
      ]
    );
  }, [a, b, isList]);
  return (
    <div class="compared">
      <p class="note quiet">
        A {plural(a.length, 'byte')}, B {grouped(b.length)}
        {isList ? '' : ', one message on each line'}
        {a === b && ': the same bytes'}
      </p>
      <div class="patch panel">
        {hunks.map(({ value, added, removed }, i) =>
          added || removed ? (
            <pre key={i} class={`content ${added ? 'is-added' : 'is-removed'}`}>
              <SafeText
                text={value
                  .slice(0, FEW)
                  .map((line) => `${added ? '+' : '−'} ${line}`)
                  .join('\n')}
              />
              {value.length > FEW && <span class="cut">… {plural(value.length - FEW, 'more line')}</span>}
            </pre>
          ) : (
            <Folded key={i} words={`${plural(value.length, 'line')} the same`}>
              {() => (
                <pre class="content">
                  <SafeText
                    text={value
                      .slice(0, FEW)
                      .map((line) => `  ${line}`)
                      .join('\n')}
                  />
                  {value.length > FEW && <span class="cut">… {plural(value.length - FEW, 'more line')}</span>}
                </pre>
              )}
            </Folded>
          ),
        )}
      </div>
    </div>
  );
};
