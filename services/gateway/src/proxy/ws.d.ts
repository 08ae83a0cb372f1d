/* What is used of `ws`: its own types leave out what reads frames. */
declare module 'ws' {
  import type { Server } from 'node:http';
  import type { EventEmitter } from 'node:events';
  import type { Writable } from 'node:stream';

  export type DeflateParameters = Record<string, unknown>;

  export class PerMessageDeflate {
    static readonly extensionName: string;
    params: DeflateParameters | null;
    constructor(options: { readonly isServer: boolean; readonly maxPayload?: number });
    /** @throws where the parameters are none that a client may accept */
    accept(offered: readonly DeflateParameters[]): DeflateParameters;
  }

  /** Reads the frames that are written to it; `message` has the whole messages. */
  export class Receiver extends Writable {
    constructor(options: {
      /** True: of frames that a client sends. */
      readonly isServer: boolean;
      readonly extensions: Readonly<Record<string, PerMessageDeflate>>;
      readonly maxPayload: number;
    });
  }

  export const extension: {
    /** @throws where it is no header of extensions */
    parse(header: string): Record<string, DeflateParameters[]>;
  };

  /** A connection of a server. */
  export class WebSocket extends EventEmitter {
    send(text: string): void;
    close(): void;
    terminate(): void;
  }

  export class WebSocketServer extends EventEmitter {
    constructor(options: { readonly server: Server; readonly perMessageDeflate: boolean | object });
    close(): void;
  }
}
