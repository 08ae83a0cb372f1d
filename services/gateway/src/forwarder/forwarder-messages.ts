import type { WireError } from '@stemma/errors';
import type { FromHome, ToHome } from '../apart/thread-messages.ts';
import type { CountedCalls } from '../proxy/proxy-counts.ts';
import type { ForwarderOptions, RunningCommand } from './forwarder-options.ts';

/** What a recorder tells its forwarder; several messages come at a time. */
export type ToForwarder =
  /** The first one. It may come with a socket that listens already. */
  | { readonly kind: 'start'; readonly options: ForwarderOptions }
  | { readonly kind: 'command'; readonly command: RunningCommand }
  | Extract<FromHome, { kind: 'recorded' | 'steered' | 'scopesRead' | 'steeredScopes' }>
  /** Nothing is recorded any more, for this reason; calls go on. */
  | { readonly kind: 'away'; readonly reason: string }
  /** How many entries wait when all are recorded, or the time is over? */
  | { readonly kind: 'drain'; readonly id: number; readonly milliseconds: number }
  /** No new calls; those under way have some time. */
  | { readonly kind: 'close' }
  /** Everything is recorded that will be. */
  | { readonly kind: 'end' };

/** What happened to a call, in the words of the one that counts. */
export type CallCount = {
  readonly [Name in keyof CountedCalls]: {
    readonly kind: 'count';
    readonly what: Name;
    readonly of: Parameters<CountedCalls[Name]>;
  };
}[keyof CountedCalls];

/** What a forwarder tells its recorder. */
export type FromForwarder =
  /** It comes with the socket: the next forwarder gets it, so that no client is refused meanwhile. */
  | { readonly kind: 'listening'; readonly url: string; readonly port: number }
  | { readonly kind: 'refused'; readonly error: WireError }
  | Extract<ToHome, { kind: 'call' | 'steer' | 'steerGone' | 'readScopes' }>
  | CallCount
  /** A connection to a host passes unread. */
  | { readonly kind: 'tunnelled'; readonly host: string }
  /** A call has begun to go out. */
  | { readonly kind: 'callBegan' }
  | { readonly kind: 'warn'; readonly sentence: string }
  | { readonly kind: 'drained'; readonly id: number; readonly waiting: number }
  | { readonly kind: 'closed' }
  /** The last one of a forwarder that cannot go on. */
  | { readonly kind: 'failed'; readonly reason: string };
