import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { once } from 'node:events';
import { Writable } from 'node:stream';
import type { Context } from '../command.ts';
import { openMcpServer, type McpOptions } from './mcp-server.ts';

/** Serves one client at stdin and stdout until it ends its input, and every request of it is answered, or the signal aborts. */
export const serveStdio = async (
  { stdin, output, signal }: Pick<Context, 'stdin' | 'output' | 'signal'>,
  options: McpOptions,
): Promise<void> => {
  const stdout = new Writable({
    decodeStrings: false,
    write: (text: string, _encoding, done) => void output.writeLines(text).then(() => done(), done),
  });
  const transport = new AnsweringTransport(stdin, stdout);
  const server = openMcpServer(options);
  const ended = Promise.race([once(stdin, 'end'), once(stdin, 'close')]).catch(() => undefined);
  const aborted = signal.aborted ? Promise.resolve() : once(signal, 'abort');
  await server.connect(transport);
  await Promise.race([ended, aborted, once(output.unread, 'abort')]);
  if (!signal.aborted && !output.unread.aborted) await Promise.race([transport.answered(), aborted]);
  await server.close();
};

/** Knows which requests have no answer yet. */
class AnsweringTransport extends StdioServerTransport {
  readonly #open = new Set<string | number>();
  #resolve: () => void = () => undefined;

  override async start(): Promise<void> {
    const receive = this.onmessage;
    this.onmessage = (message) => {
      if ('method' in message && 'id' in message) this.#open.add(message.id);
      receive?.(message);
    };
    await super.start();
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    await super.send(message);
    if (!('method' in message) && 'id' in message && message.id !== undefined) this.#open.delete(message.id);
    if (this.#open.size === 0) this.#resolve();
  }

  /** Resolves when no request waits for its answer. */
  async answered(): Promise<void> {
    // What was read before the end is handed on in this turn of the event loop.
    await new Promise((resolve) => setImmediate(resolve));
    if (this.#open.size > 0) await new Promise<void>((resolve) => (this.#resolve = resolve));
  }
}
