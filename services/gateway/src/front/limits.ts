/** What one gateway gives away at a time, so that no client can take what the others need. Times in milliseconds. */
export type GatewayLimits = {
  /** Connections; one more closes the one that has been idle for the longest time. */
  readonly connections: number;
  /** Requests of one connection that are not answered yet (a client may send several at once). */
  readonly perConnection: number;
  /** Until the headers of a request have arrived. */
  readonly headers: number;
  /** A connection whose client takes nothing of an answer for so long is cut off. */
  readonly stall: number;
  /** Bytes of one body. */
  readonly body: number;
  /** Values of one body: objects, lists, and what stands in them. */
  readonly values: number;
  /** Bytes of all bodies that are being received or worked on and are larger than `small`. */
  readonly bodies: number;
  /** Bodies up to this size have room of their own: large ones never take it. */
  readonly small: number;
  /** Bytes of all bodies that are no larger than `small`. */
  readonly smallBodies: number;
  /** Bytes of all answers larger than `small` that have not been taken; one larger than this is sent alone. */
  readonly answers: number;
  /** A body may be slow for so long … */
  readonly bodyGrace: number;
  /** … and afterwards has to have brought this many bytes a second, from its beginning. */
  readonly bodyRate: number;
};

const MIB = 1024 * 1024;

export const LIMITS: GatewayLimits = {
  connections: 2_000,
  perConnection: 32,
  headers: 10_000,
  stall: 30_000,
  body: 80 * MIB,
  values: 2_000_000,
  bodies: 240 * MIB,
  small: 256 * 1024,
  smallBodies: 64 * MIB,
  answers: 512 * MIB,
  bodyGrace: 5_000,
  bodyRate: 64 * 1024,
};
