import { fail } from '@stemma/errors';
import { callScopeOf, decoded, readExchangeStart } from '@stemma/exchanges';
import type { CallChange } from '@stemma/home';
import { defined } from '@stemma/values';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SteeredEntry } from './call-sink.ts';
import type { StartedEntry } from './entry.ts';
import { BY, type RecordingOptions } from './entry-recording.ts';

/** Milliseconds that a steered call waits until it is recorded: what is away then is waited for behind it. */
const DEADLINE = 3_000;

/** Puts what observers changed into a call, and holds it where they say so. @param gone aborts when the client is gone */
export const steerEntry = async (
  { home, retry, calls, sayOnce }: RecordingOptions,
  { id, place, run, method, path, origin, contentType, sentAt, coding, session: named }: StartedEntry,
  body: Uint8Array,
  gone: AbortSignal,
  change?: CallChange,
): Promise<SteeredEntry> => {
  const wire = { form: 'wire', method, path, origin, contentType, coding } as const;
  const request = { ...wire, session: named, body };
  const { api, messages, model, parameters, tools, sent, session } = await readExchangeStart({
    id,
    by: BY,
    scope: place,
    request,
    sentAt,
  });
  if (api === 'other') return { kind: 'unsteered', reason: 'no reader understands the request' };
  const { within, warning } = await inTime(callScopeOf(home, place, BY));
  sayOnce(warning);
  const outcome = await home.steering.call(
    {
      id,
      by: BY,
      ...defined({ within }),
      steer: place?.steer === true,
      api,
      said: { model, parameters, tools, messages, sent: sent ?? null, ...defined({ session, run }) },
      body,
      plain: await decoded(body, coding),
      ...defined({ change }),
    },
    gone,
    (act) => retry.run(act),
  );
  if (outcome.kind !== 'sent') return outcome;
  const { branch, body: changed, recorded } = outcome;
  calls.addSteered(id, recorded);
  const isRecorded = await Promise.race([
    recorded.then(
      () => true,
      () => false,
    ),
    sleep(DEADLINE, false),
  ]);
  return { kind: 'sent', branch, body: changed, isRecorded };
};

/** @throws E_CALL_NOT_STEERED if it takes too long */
const inTime = async <T>(work: Promise<T>): Promise<T> => {
  const done = new AbortController();
  try {
    return await Promise.race([
      work,
      sleep(DEADLINE, undefined, { signal: done.signal }).then((): never => {
        throw fail('E_CALL_NOT_STEERED', 'the log does not answer');
      }),
    ]);
  } finally {
    done.abort();
  }
};
