import type { HomeThread } from '../apart/open-home-thread.ts';
import type { Outbox } from '../apart/outbox.ts';
import type { FromForwarder, ToForwarder } from './forwarder-messages.ts';

type CallMessage = Extract<FromForwarder, { kind: 'call' | 'steer' | 'steerGone' | 'readScopes' }>;

/** Has a home record and steer what one forwarder asks for. */
export type CallRelay = {
  readonly hear: (message: CallMessage) => void;
  /** The forwarder is gone: what it holds is let go. @returns resolves when all is recorded that it gave */
  readonly end: () => Promise<void>;
};

/**
 * @param before resolves when what the forwarder before gave is recorded: the next one reads the same entries in its journal, and
 *   what is recorded twice at the same time would be two calls
 */
export const openCallRelay = (
  { calls, scopes }: Pick<HomeThread, 'calls' | 'scopes'>,
  tell: Outbox<ToForwarder>['put'],
  before: Promise<void>,
): CallRelay => {
  const steering = new Map<number, AbortController>();
  let recording = 0;
  let whenRecorded: (() => void) | undefined;
  let waiting: Extract<CallMessage, { kind: 'call' }>[] | undefined = [];
  const record = ({ id, ref, left, end }: Extract<CallMessage, { kind: 'call' }>): void => {
    recording++;
    calls.record(
      ref,
      (outcome) => {
        tell({ kind: 'recorded', id, outcome });
        if (--recording === 0) whenRecorded?.();
      },
      { left, ...(end !== undefined && { end }) },
    );
  };
  void before.then(() => {
    for (const each of waiting ?? []) record(each);
    waiting = undefined;
  });
  return {
    hear: (message) => {
      const { id } = message;
      switch (message.kind) {
        case 'call':
          if (waiting === undefined) record(message);
          else waiting.push(message);
          break;
        case 'steer': {
          const gone = new AbortController();
          steering.set(id, gone);
          void calls.steer(message.entry, message.body, gone.signal, message.change).then((outcome) => {
            steering.delete(id);
            tell({ kind: 'steered', id, outcome });
          });
          break;
        }
        case 'steerGone':
          steering.get(id)?.abort();
          break;
        case 'readScopes':
          void scopes.read().then(() => tell({ kind: 'scopesRead', id }));
      }
    },
    end: () => {
      for (const gone of steering.values()) gone.abort();
      // The next forwarder reads in the journal what has not been given to the home yet.
      waiting = waiting === undefined ? undefined : [];
      if (recording === 0) return before;
      return new Promise((resolve) => (whenRecorded = resolve));
    },
  };
};
