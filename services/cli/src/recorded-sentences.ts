import type { ProxyCounts } from '@stemma/gateway';

/** What became of the calls of a program, as the proxy counted it. */
type RecordedCounts = Omit<ProxyCounts, 'histories' | 'branches'> & { readonly branches: readonly unknown[] };

/** Kinds of requests that a sentence names. */
const MOST_NAMED = 5;

/**
 * What was recorded of a program's calls, in sentences: `recorded 9 of 11: 2 passed unrecorded (GET /v1/models ×2)`.
 *
 * @param waiting entries that wait to be recorded: requests and answers
 * @param names of the histories that calls were recorded in
 * @param isIntercepted the program was given a proxy instead of addresses
 */
export const recordedSentences = (
  counts: RecordedCounts,
  waiting: number,
  names: readonly string[],
  isIntercepted = false,
): readonly string[] => {
  const { calls, dropped, refused, refusals, branches, unrecorded } = counts;
  const passed = passedOf(unrecorded);
  const [first] = names;
  const where = names.length > 1 ? ` in ${names.length} histories` : names.length === 1 ? ` in ${first}` : '';
  const hint = first === undefined || branches.length > 1 ? '' : `: stemma calls ${first}`;
  const recorded = calls - dropped - refused - counts.waitingCalls - counts.aborted - counts.gone;
  const sentences = [
    passed > 0
      ? `recorded ${recorded} of ${calls + passed}: ${passed} passed unrecorded (${kindsOf(unrecorded)})${endsOf(counts)}${where}${hint}`
      : calls === 0
        ? `no calls were recorded: ${isIntercepted ? 'none went to a host that is read' : 'none came through OPENAI_BASE_URL or ANTHROPIC_BASE_URL'}`
        : `recorded ${recorded} of ${calls} calls${endsOf(counts)}${where}${hint}`,
  ];
  if (waiting > 0)
    sentences.push(
      `${counts.waitingCalls > 0 ? countOf(counts.waitingCalls, 'call') : countOf(waiting, 'answer')} to be recorded: the next stemma record or up does it`,
    );
  if (dropped > 0) sentences.push(`${dropped} calls were not recorded: too many waited`);
  for (const { reason, calls: count } of refusals)
    sentences.push(`not recorded, though sent and answered: ${count} of ${calls} calls, as ${reason}`);
  return sentences;
};

/** The same as data: the requests that passed unrecorded, and how many were of other kinds than those. */
export const unrecordedAnswer = ({
  unrecorded: { kinds, others },
}: {
  readonly unrecorded: ProxyCounts['unrecorded'];
}): { readonly unrecorded: ProxyCounts['unrecorded']['kinds']; readonly otherUnrecorded: number } => ({
  unrecorded: kinds,
  otherUnrecorded: others,
});

const passedOf = ({ kinds, others }: ProxyCounts['unrecorded']): number =>
  kinds.reduce((sum, { calls }) => sum + calls, others);

/** `GET /v1/models ×2, websocket /v1/realtime` */
const kindsOf = (unrecorded: ProxyCounts['unrecorded']): string => {
  const named = unrecorded.kinds.slice(0, MOST_NAMED);
  const left = passedOf(unrecorded) - passedOf({ kinds: named, others: 0 });
  return [
    ...named.map(({ method, path, calls }) => `${method} ${path} ×${calls}`),
    ...(left === 0 ? [] : [`${left} others`]),
  ].join(', ');
};

/** `1 call waits`, `3 answers wait` */
const countOf = (count: number, what: string): string =>
  count === 1 ? `1 ${what} waits` : `${count} ${what}s wait`;

const endsOf = ({ cancelled, failed, aborted, gone, withoutAnswer }: RecordedCounts): string => {
  const ends = [
    ...(cancelled === 0 ? [] : [`${cancelled} cancelled`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(aborted === 0 ? [] : [`${aborted} aborted`]),
    ...(gone === 0 ? [] : [`${gone} gone before they went out`]),
    ...(withoutAnswer === 0 ? [] : [`${withoutAnswer} without an answer`]),
  ];
  return ends.length === 0 ? '' : ` (${ends.join(', ')})`;
};
