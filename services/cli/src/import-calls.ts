import { isJsonObject, sha256Hex, type WideJson, type WideJsonObject } from '@stemma/canonical';
import { readExchange, recordExchange, type Exchange, type ReadExchange } from '@stemma/exchanges';
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
};

/** @param name of the history that takes all of them; null: each conversation is one of its own */
export const openCallImport = (name: string | null): CallImport => {
  const histories = new Map<string, SummaryCounter>();
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
      const history = home === null ? run : (await recordExchange(home, exchange, read)).branch.history;
      const summary = histories.get(history) ?? openSummary();
      histories.set(history, summary);
      countCall(summary, read, { run, at, fidelity, missing }, seen);
    },
    async histories(home) {
      const found: ImportedCalls[] = [];
      for (const [history, summary] of histories)
        found.push(
          home === null
            ? { history: null, name: null, summary }
            : { history, name: (await home.read.history(history)).name, summary },
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
