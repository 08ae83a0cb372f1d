import type { WireError } from '@stemma/errors';
import type { CallChange, HomeOptions } from '@stemma/home';
import type { ClientPorts, GivenInput, RouteName } from '../answers.ts';
import type { DoorCounts } from '../front/door-counts.ts';
import type { EntryRef } from '../proxy/entry.ts';
import type { StartedEntry } from '../proxy/entry.ts';
import type { ProxyBacklog } from '../proxy/open-proxy.ts';
import type { RecordedEntry, SteeredEntry } from '../proxy/call-sink.ts';
import type { KnownScopes } from '../proxy/steered-scopes.ts';

/** What a home in a thread is opened with. */
export type HomeThreadOptions = {
  readonly home: Pick<
    HomeOptions,
    'directory' | 'create' | 'log' | 'rows' | 'prices' | 'redact' | 'catchUpTimeout'
  >;
  /** Milliseconds that a question may take. */
  readonly queryTimeout: number;
};

/** What the thread of the server tells the thread of the home; several messages come at a time. */
export type ToHome =
  | {
      readonly kind: 'ask';
      readonly id: number;
      readonly name: RouteName;
      readonly input: GivenInput;
      /** The connection that it came on. */
      readonly connection: number;
      readonly ports: ClientPorts;
    }
  /** The client takes more of a stream. */
  | { readonly kind: 'pull'; readonly id: number }
  /** The client is gone. */
  | { readonly kind: 'cancel'; readonly id: number }
  /** What the door counted since the last time, and what of the calls through the proxy is not recorded yet. */
  | { readonly kind: 'counted'; readonly counts: DoorCounts; readonly backlog: ProxyBacklog }
  /** A call that went through the proxy; `end`: its end, if `ref` has its beginning, and both are known. */
  | {
      readonly kind: 'call';
      readonly id: number;
      readonly ref: EntryRef;
      readonly left: boolean;
      readonly end?: EntryRef;
    }
  /** A call before it goes out, which observers may steer; what its client ends is not sent. */
  | {
      readonly kind: 'steer';
      readonly id: number;
      readonly entry: StartedEntry;
      readonly body: Uint8Array;
      readonly change?: CallChange;
    }
  | { readonly kind: 'steerGone'; readonly id: number }
  /** Which calls may be steered now? */
  | { readonly kind: 'readScopes'; readonly id: number }
  | { readonly kind: 'ping' }
  /** Streams end, and no more questions are to come. */
  | { readonly kind: 'closing' }
  | { readonly kind: 'close' };

export type FromHome =
  /** `redacts`: rules of this home take secrets out of commands. */
  | { readonly kind: 'opened'; readonly redacts: boolean; readonly steered: KnownScopes }
  /** Which calls observers may steer, when it has changed. */
  | { readonly kind: 'steeredScopes'; readonly steered: KnownScopes }
  /** All is told that the log had when it was asked for. */
  | { readonly kind: 'scopesRead'; readonly id: number }
  | { readonly kind: 'steered'; readonly id: number; readonly outcome: SteeredEntry }
  | { readonly kind: 'refused'; readonly error: WireError }
  | {
      readonly kind: 'response';
      readonly id: number;
      readonly status: number;
      readonly headers: Readonly<Record<string, string>>;
      /** Undefined: a stream, of which pieces come as they are pulled. */
      readonly body: string | Uint8Array<ArrayBuffer> | null | undefined;
    }
  | { readonly kind: 'piece'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'end'; readonly id: number; readonly broken: boolean }
  | { readonly kind: 'recorded'; readonly id: number; readonly outcome: RecordedEntry }
  /** Somebody reads metrics, or how the service does: what has the door counted? */
  | { readonly kind: 'count' }
  | { readonly kind: 'pong' };
