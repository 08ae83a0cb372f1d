import type { WideJson } from '@stemma/canonical';
import { fail, isStemmaError } from '@stemma/errors';
import { openSpanAssembly, spansIn, type ForeignExchange } from '@stemma/importers';
import type { Exchange } from './exchange.ts';
import { recordExchange, type ExchangeTarget } from './record-exchange.ts';

/** Records the calls of models among the spans that programs send, whatever the order in which these come. */
export type TraceRecorder = {
  /**
   * Takes spans, and records the calls whose spans above have come, up to the root; the others when no span came for a while.
   *
   * @param value a request of OTLP, as JSON
   * @throws E_INPUT_SHAPE for what holds no spans; E_BUSY where too many wait; what is worth another try of `recordExchange`: the same
   *   spans may be sent once more
   */
  readonly take: (value: WideJson, where: string) => Promise<void>;
  /** Records all that waits. */
  readonly flush: () => Promise<void>;
};

type TraceRecorderOptions = {
  /** Milliseconds without a span after which calls are recorded whose root never came; 5,000 unless said. */
  readonly quiet?: number;
  /** Told of a call that could not be recorded. */
  readonly report?: (error: unknown) => void;
};

const QUIET = 5_000;

/** The most characters of spans that wait. */
const MOST_WAITING = 64 * 1024 * 1024;

export const openTraceRecorder = (
  home: ExchangeTarget,
  { quiet = QUIET, report = () => undefined }: TraceRecorderOptions = {},
): TraceRecorder => {
  const assembly = openSpanAssembly();
  const ready: { readonly run: string; readonly exchange: ForeignExchange }[] = [];
  let timer: NodeJS.Timeout | undefined;
  let recording: Promise<void> = Promise.resolve();

  const release = (which: 'closed' | 'all'): void => {
    let run = '';
    for (const item of assembly.release(which)) {
      if (item.kind === 'conversation') run = item.key ?? '';
      if (item.kind === 'exchange') ready.push({ run, exchange: item });
    }
  };
  const recordAll = async (): Promise<void> => {
    for (let next = ready[0]; next !== undefined; next = ready[0]) {
      try {
        await recordExchange(home, exchangeOf(next.run, next.exchange));
      } catch (error) {
        // It is worth another try, with all that comes after it.
        if (isStemmaError(error) && error.row.retriable) throw error;
        report(error);
      }
      ready.shift();
    }
  };
  /** One after the other: the order of calls says whose conversation they are. */
  const record = (): Promise<void> => {
    const next = recording.catch(() => undefined).then(recordAll);
    recording = next;
    return next;
  };
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    release('all');
    return record();
  };
  const flushLater = (): void => {
    clearTimeout(timer);
    timer = undefined;
    if (assembly.size() === 0 && ready.length === 0) return;
    timer = setTimeout(() => {
      flush().catch((error: unknown) => {
        report(error);
        flushLater();
      });
    }, quiet);
    timer.unref();
  };
  return {
    flush,
    take: async (value, where) => {
      if (assembly.size() > MOST_WAITING) throw fail('E_BUSY', 'too many spans wait for those above them');
      // All are known to be spans before one is taken.
      for (const found of [...spansIn(value, where)]) if ('span' in found) assembly.add(found.span);
      release('closed');
      try {
        await record();
      } finally {
        flushLater();
      }
    },
  };
};

const exchangeOf = (run: string, { id, at, request, end }: ForeignExchange): Exchange => ({
  id: `otlp:${id}`.slice(0, MOST_ID),
  by: { recorder: 'otlp' },
  scope: { run: run.slice(0, MOST_ID) },
  request,
  sentAt: at ?? null,
  end: end === null ? null : { ...end, firstByteMs: end.firstByteMs ?? null },
});

/** The most characters of an id, and of the name of a run. */
const MOST_ID = 200;
