import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { openMcpServer } from '../../src/agent/mcp-server.ts';
import type { Permission } from '../../src/agent/tools.ts';
import { allCommands } from '../../src/catalogue.ts';
import { openKept } from '../run-stemma.ts';
import { runCommands } from '../../src/run-commands.ts';

const COMMANDS = await allCommands();

/** What a client asks for and is answered in texts. */
export type TextClient = AsyncDisposable & {
  readonly client: Client;
  /** The text of a tool's answer; `failed` says how it ended. */
  readonly call: (
    name: string,
    input: Readonly<Record<string, unknown>>,
  ) => Promise<{ readonly text: string; readonly failed: boolean }>;
};

export const textClient = (client: Client): TextClient => ({
  client,
  call: async (name, input) => {
    const { content, isError } = (await client.callTool({ name, arguments: input })) as CallToolResult;
    const text = content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    return { text, failed: isError === true };
  },
  [Symbol.asyncDispose]: () => client.close(),
});

/** The SDK's own client of a server in this process. */
export const openClient = async (
  home: string,
  allowed: readonly Permission[] = [],
  person: string | null = null,
): Promise<TextClient> => {
  const server = openMcpServer({
    commands: COMMANDS,
    run: (words, around) => runCommands(COMMANDS, words, around),
    allowed: new Set(allowed),
    common: [`--home=${home}`],
    person,
    around: { env: {}, signal: new AbortController().signal, openHome: openKept },
  });
  const client = new Client({ name: 'tester', version: '1.0' });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  await client.connect(theirs);
  return textClient(client);
};
