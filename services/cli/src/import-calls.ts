import { isJsonObject, sha256Hex, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { readExchange, recordExchange, type Exchange, type ReadExchange } from '@stemma/exchanges';
import { historyId } from '@stemma/history';
import type { Home } from '@stemma/home';
import { missingAtStart, openSummary, type ForeignExchange, type SummaryCounter } from '@stemma/importers';
import { comparableMessage } from '@stemma/model-apis';

/** Records the calls of a file that hold their whole input, each where its messages say that it belongs (calls §3). */
export type CallImport = {
  readonly add: (home: Home | null, given: GivenCall) => Promise<void>;
  /** What came of them: of each history, or of each run where nothing is recorded. */
  readonly histories: (home: Home | null) => Promise<readonly ImportedCalls[]>;
};

type GivenCall = {
  readonly id: string;
  readonly run: string;
  readonly exchange: ForeignExchange;
};

export type ImportedCalls = {
  /** Null: nothing is recorded. */
  readonly history: string | null;
  readonly name: string | null;
  readonly summary: SummaryCounter;
  /** True if all of them were recorded before. */
  readonly repeated: boolean;
};

/**
 * Starts the erasable history that takes all calls of a file; one that is there is gone on with.
 *
 * @throws E_HISTORY_EXISTS if it is there and is not erasable
 */
export const startErasable = async (
  home: Home,
  name: string,
  erasable: { readonly subject: string | null },
): Promise<void> => {
  const history = historyId(name, '');
  if ((await home.privacy.erasableAs(history)) !== undefined) return;
  const start = { op: 'start', name, erasable } as const;
  await home.submit({
    ...{ id: `start-erasable-${name}`, history, branchId: 0, by: { recorder: 'import' } },
    steps: [start],
  });
};

/** @param name of the history that takes all of them; null: each conversation is one of its own */
export const openCallImport = (name: string | null): CallImport => {
  const histories = new Map<string, { readonly summary: SummaryCounter; repeated: boolean }>();
  const seen = new Set<string>();
  return {
    async add(home, { id, run, exchange: { request, end, at, fidelity, missing } }) {
      const exchange: Exchange = {
        id,
        by: { recorder: 'import' },
        scope: name === null ? { run } : { name },
        request,
        sentAt: at ?? null,
        fidelity: { kind: fidelity, missing: missingAtStart(missing) },
        end: end === null ? null : { ...end, firstByteMs: end.firstByteMs ?? null },
      };
      const read = await readExchange(exchange);
      const placed = home === null ? null : await recordExchange(home, exchange, read);
      const history = placed?.branch.history ?? run;
      const found = histories.get(history) ?? { summary: openSummary(), repeated: true };
      histories.set(history, found);
      // One that was there without its end is ended now.
      found.repeated &&= placed?.before === true && (placed.isEnded || end === null);
      countCall(found.summary, read, { run, at, fidelity, missing }, seen);
    },
    async histories(home) {
      const found: ImportedCalls[] = [];
      for (const [history, { summary, repeated }] of histories)
        found.push(
          home === null
            ? { history: null, name: null, summary, repeated: false }
            : { history, name: (await home.read.history(history)).name, summary, repeated },
        );
      return found;
    },
  };
};

/** A message counts once: a call repeats those of the calls before it. */
const countCall = (
  summary: SummaryCounter,
  { start, end }: ReadExchange,
  {
    run,
    at,
    fidelity,
    missing,
  }: Pick<GivenCall, 'run'> & Pick<ForeignExchange, 'at' | 'fidelity' | 'missing'>,
  seen: Set<string>,
): void => {
  summary.at(at);
  summary.call({
    model: end?.model ?? start.model,
    usage: end?.usage,
    fidelity,
    missing,
    aborted: end?.status === 'cancelled',
  });
  const { answer = null } = end ?? {};
  let prefix = run;
  const all: readonly WideJson[] = [...start.messages, ...(answer === null ? [] : [answer])];
  for (const message of all) {
    if (!isMessage(message)) continue;
    prefix = sha256Hex(`${prefix}\n${comparableMessage(message)}`).slice(0, 24);
    if (seen.has(prefix)) continue;
    seen.add(prefix);
    summary.message(typeof message['role'] === 'string' ? message['role'] : 'unknown', [message]);
  }
};

const isMessage = (value: WideJson): value is WideJsonObject => isJsonObject(value);
