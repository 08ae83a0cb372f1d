import { joinBytes } from '@stemma/canonical';
import type { CallChange } from '@stemma/home';
import type { ProxyCall } from './calls-under-way.ts';
import type { AskedScope, StartedEntry } from './entry.ts';
import type { CallNotes, RequestToSend } from './exchange-notes.ts';
import type { CallsToRecord, RecordingParts } from './record-calls.ts';

/** `steer` with a change: a call that cannot be changed does not go out. */
export type CallNoter = Pick<CallNotes, 'started' | 'given' | 'ended'> & {
  readonly steer: (
    ...call: [...Parameters<NonNullable<CallNotes['steer']>>, change?: CallChange]
  ) => Promise<RequestToSend>;
};

/**
 * Notes in the journal what happens to calls, and has it recorded.
 *
 * @param endWithin milliseconds that the beginning of a call waits for its end; 0: it does not
 */
export const openCallNoter = (
  { sink, journal, calls, counter }: RecordingParts,
  records: CallsToRecord,
  endWithin: number,
  warn: (sentence: string) => void,
): CallNoter => {
  const begin = (entry: StartedEntry): ProxyCall => {
    counter.addCall(entry.id);
    return calls.add(entry);
  };
  const drop = (call: ProxyCall, id: string): void => {
    call.dropped = true;
    call.open.close();
    counter.addDropped(id);
  };
  const steer = async (
    entry: StartedEntry,
    body: readonly Uint8Array[],
    gone: AbortSignal,
    change?: CallChange,
  ): Promise<RequestToSend> => {
    const call = begin(entry);
    // Noted before it is held: of a process that is killed, the next one records that nobody knows what became of it.
    const noted = await journal.append(entry, body);
    if (noted === undefined) {
      drop(call, entry.id);
      if (change === undefined) return { kind: 'send', body: null };
      return { kind: 'ended', message: 'too many calls wait to be recorded: this one is not changed' };
    }
    const outcome = await sink.steer(entry, joinBytes(body), gone, change);
    if (change !== undefined && (outcome.kind === 'unsteered' || outcome.kind === 'untouched')) {
      const message = `the call could not be changed${outcome.kind === 'unsteered' ? `: ${outcome.reason}` : ''}`;
      warn(message);
      journal.done(noted);
      calls.delete(entry.id);
      counter.addUnsent(entry.id, 'aborted');
      return { kind: 'ended', message };
    }
    switch (outcome.kind) {
      case 'untouched':
        records.recordBefore(entry.place);
        records.recordNoted(noted);
        return { kind: 'send', body: null };
      case 'sent':
        call.branch = outcome.branch;
        counter.addHistory(outcome.branch.history);
        if (outcome.isRecorded) {
          call.open.placed(outcome.branch);
          journal.done(noted);
          counter.addRecorded({ kind: 'started', id: entry.id }, { branch: outcome.branch });
        } else call.started = noted;
        return { kind: 'send', body: outcome.body };
      case 'ended':
        counter.addUnsent(entry.id, outcome.how === 'aborted' ? 'aborted' : 'gone');
        counter.addHistory(outcome.branch.history);
        journal.done(noted);
        calls.delete(entry.id);
        return outcome;
      case 'unsteered': {
        if (isMeant(entry.place)) warn(`a call was not steered: ${outcome.reason}`);
        journal.done(noted);
        const again = await journal.append({ ...entry, unsteered: outcome.reason }, body);
        records.recordBefore(entry.place);
        if (again === undefined) drop(call, entry.id);
        else records.recordNoted(again);
        return { kind: 'send', body: null };
      }
    }
  };
  return {
    started: (entry, body) => {
      const call = begin(entry);
      call.last = journal.append(entry, body).then((noted) => {
        if (noted === undefined) drop(call, entry.id);
        else if (endWithin > 0) records.recordSoon(call, noted, endWithin);
        else records.recordNoted(noted);
      });
      return call.last;
    },
    steer,
    given: (id, ...piece) => calls.get(id)?.open.given(...piece),
    ended: async (entry, body) => {
      const call = calls.get(entry.id);
      if (call === undefined) return;
      await call.last;
      if (call.dropped) {
        calls.delete(entry.id);
        return;
      }
      call.hasEnded = true;
      const noted = await journal.append({ ...entry, branch: call.branch ?? null }, body);
      call.open.close();
      if (noted !== undefined) {
        records.recordEnd(call, noted);
        return;
      }
      call.dropped = true;
      counter.addDropped(entry.id, 'answer');
      if (call.started !== undefined) journal.done(call.started);
      calls.delete(entry.id);
    },
  };
};

/** True for a call that a client or an operator put where calls are steered; others may only look like one. */
const isMeant = (place: AskedScope): boolean => place !== null && ('name' in place || place.steer === true);
