import { fail } from '@stemma/errors';
import type { Author } from '@stemma/events';
import {
  beginningOf,
  endExchange,
  readExchangeEnd,
  readExchangeStart,
  readProviderExchange,
  recordProviderExchange,
  startExchange,
} from '@stemma/exchanges';
import type { Home, Retry } from '@stemma/home';
import { defined, inOrderByKey } from '@stemma/values';
import { EndedCalls } from './ended-calls.ts';
import type { EndedEntry, ReadEntry, StartedEntry } from './entry.ts';
import { isProviderCall } from './provider-call.ts';
import type { StartedCall, StartedCalls } from './started-calls.ts';

/** Who records what goes through the proxy. */
export const BY: Author = { recorder: 'proxy' };

/** What recording an entry needs. */
export type RecordingOptions = {
  readonly home: Home;
  /** Waits for a log that is away. */
  readonly retry: Retry;
  readonly calls: StartedCalls;
  /** Hears what is recorded elsewhere than it was asked, each once. */
  readonly sayOnce: (warning: string | null) => void;
};

/** Records entries of which the bytes are read. */
export class EntryRecording {
  readonly #options: RecordingOptions;
  readonly #inOrder = inOrderByKey();
  readonly #ended = new EndedCalls();

  constructor(options: RecordingOptions) {
    this.#options = options;
  }

  /**
   * Reads what an entry says.
   *
   * @param ended the end of the call whose start it is: both are recorded in one
   * @returns what records it
   */
  async prepare(
    { entry, body }: ReadEntry,
    left: boolean,
    ended?: ReadEntry,
  ): Promise<() => Promise<StartedCall>> {
    const { home, retry, calls } = this.#options;
    if (entry.kind === 'ended')
      return () => {
        const place = calls.placeOf(entry.id);
        const recorded = this.#recordEnd(entry, body);
        if (place !== undefined) this.#ended.add(place, null, recorded);
        return recorded;
      };
    if (entry.kind !== 'started') throw fail('E_INTERNAL', `an entry that is ${entry.kind} is not recorded`);
    if (isProviderCall(entry)) return this.#prepareProviderCall(entry, body, ended);
    const start = await this.#prepareStart(entry, body, ended);
    return async () => {
      const earlier = this.#ended.before(entry.place, entry.sentAt ?? null);
      const lost = left ? retry.run(() => home.steering.lose(entry.id)) : undefined;
      const before = lost === undefined ? earlier : Promise.all([lost, earlier]);
      const started = before === undefined ? start() : before.then(start);
      // Nobody asks for it any more.
      if (ended === undefined) calls.add(entry.id, entry.place, started);
      else this.#ended.add(entry.place, endedAt(entry, ended), started);
      return started;
    };
  }

  /** A call without messages, which is recorded whole: of one without an end nobody knows how it ended. */
  async #prepareProviderCall(
    entry: StartedEntry,
    body: Uint8Array,
    ended?: ReadEntry,
  ): Promise<() => Promise<StartedCall>> {
    const { home, retry, sayOnce } = this.#options;
    const { id, place, run, sentAt } = entry;
    const end = ended?.entry.kind === 'ended' ? endingOf(ended.entry, ended.body) : null;
    const request = requestOf(entry, body);
    const facts = await readProviderExchange({ id, by: BY, scope: place, run, request, sentAt, end });
    return async () => {
      const { branch, warning } = await this.#inOrder(`provider calls ${JSON.stringify(place)}`, () =>
        retry.run(() => recordProviderExchange(home, place, facts)),
      );
      sayOnce(warning);
      const where = { history: branch.history, branchId: branch.branchId };
      return { where, isEnded: true, ...defined({ status: end?.status }) };
    };
  }

  async #prepareStart(
    entry: StartedEntry,
    body: Uint8Array,
    ended?: ReadEntry,
  ): Promise<() => Promise<StartedCall>> {
    const { home, retry, sayOnce } = this.#options;
    const { id, place, run, sentAt } = entry;
    const request = requestOf(entry, body);
    const exchange = { id, by: BY, scope: place, run, request, sentAt };
    const end = ended?.entry.kind === 'ended' ? await endOf(ended.entry, ended.body) : undefined;
    const read = { ...(await readExchangeStart(exchange)), ...defined({ end }) };
    return async () => {
      // While the log is away, calls of one conversation keep their order.
      const { branch, isEnded, warning } = await this.#inOrder(beginningOf(place, read), () =>
        startExchange(targetOf(home, entry), exchange, read, (act) => retry.run(act)),
      );
      sayOnce(warning);
      const where = { history: branch.history, branchId: branch.branchId };
      if (end !== undefined && !isEnded) await retry.run(() => endExchange(home, { id, by: BY }, end, where));
      return {
        where,
        isEnded: isEnded || end !== undefined,
        ...defined({ status: end?.status }),
      };
    };
  }

  async #recordEnd(entry: EndedEntry, body: Uint8Array): Promise<StartedCall> {
    const { home, retry, calls } = this.#options;
    const started = await calls.take(entry.id);
    const where = entry.branch ?? started?.where;
    if (where === undefined) throw fail('E_CALL_NOT_FOUND', `nothing is known of how ${entry.id} began`);
    // A process that was killed may have recorded both, and forgotten neither.
    const end = await endOf(entry, body);
    const ended = { where, isEnded: true, status: end.status } as const;
    if (started?.isEnded === true) return ended;
    await retry.run(() => endExchange(home, { id: entry.id, by: BY }, end, where));
    return ended;
  }
}

/** The home, as a call is recorded in it that went out as it came, though observers steer it. */
const targetOf = (home: Home, { unsteered }: StartedEntry): Home =>
  unsteered === undefined
    ? home
    : {
        ...home,
        calls: {
          ...home.calls,
          recordRequest: (call) => home.calls.recordRequest({ ...call, facts: { ...call.facts, unsteered } }),
        },
      };

const endedAt = ({ sentAt }: StartedEntry, { entry }: ReadEntry): number | null =>
  sentAt == null || entry.kind !== 'ended' ? null : sentAt + entry.durationMs;

const endOf = (entry: EndedEntry, body: Uint8Array): ReturnType<typeof readExchangeEnd> =>
  readExchangeEnd(entry, endingOf(entry, body));

const endingOf = (entry: EndedEntry, body: Uint8Array): Parameters<typeof readExchangeEnd>[1] => {
  const { httpStatus, contentType, retryAfter, coding, whole, unkept } = entry;
  const kept = whole ? body : (unkept ?? null);
  const wire = { form: 'wire', contentType, retryAfter, coding, body: kept } as const;
  const response = httpStatus === null ? null : { ...wire, httpStatus };
  return { ...entry, response };
};

const requestOf = (
  { method, path, origin, contentType, coding, session, whole, unkept }: StartedEntry,
  body: Uint8Array,
): Extract<Parameters<typeof readExchangeStart>[0]['request'], { readonly form: 'wire' }> => {
  const wire = { form: 'wire', method, path, origin, contentType, coding, session } as const;
  return { ...wire, body: whole ? body : (unkept ?? null) };
};
