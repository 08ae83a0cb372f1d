import { type McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { Variables } from '@modelcontextprotocol/sdk/shared/uriTemplate.js';
import {
  McpError,
  type ListResourcesResult,
  type ReadResourceResult,
} from '@modelcontextprotocol/sdk/types.js';
import { visibleText } from '@stemma/errors';
import type { ToolAnswer } from './run-tool.ts';

/** Runs a command of this program and gives what it printed. */
export type ReadAnswer = (words: readonly string[]) => Promise<ToolAnswer>;

/** What the protocol calls a resource that is not there. */
const NO_RESOURCE = -32_002;

/** Tokens of a resource: a client that wants less asks a tool. */
const BUDGET = 20_000;
/** Histories that are listed, the newest. */
const MOST_LISTED = 50;

/** A resource: what it is called, where it is, and the command that gives its text. */
type Kind = {
  readonly name: string;
  readonly template: string;
  readonly description: string;
  readonly words: (variables: Variables) => readonly string[];
};

const KINDS: readonly Kind[] = [
  {
    name: 'history',
    template: 'stemma://histories/{history}',
    description: 'every call of a history: what it was shown, what came and left, what it decided',
    words: (variables) => ['filmstrip', valueOf(variables, 'history')],
  },
  {
    name: 'call',
    template: 'stemma://histories/{history}/calls/{call}',
    description:
      'a call: what it was shown since the call before, what it decided and got back; {call} is its number',
    words: (variables) => ['call', valueOf(variables, 'history'), callOf(variables)],
  },
  {
    name: 'thread',
    template: 'stemma://histories/{history}/calls/{call}/thread',
    description: 'all messages that a call was shown',
    words: (variables) => ['thread', valueOf(variables, 'history'), callOf(variables)],
  },
];

/** Histories and calls as resources. */
export const registerResources = (server: McpServer, read: ReadAnswer): void => {
  for (const { name, template, description, words } of KINDS) {
    const list = name === 'history' ? () => listHistories(read) : undefined;
    server.registerResource(
      name,
      new ResourceTemplate(template, { list }),
      { description, mimeType: 'text/plain' },
      async (uri, variables): Promise<ReadResourceResult> => {
        const [command = '', ...args] = words(variables);
        const { text, failed } = await read([command, '--output=agent', `--budget=${BUDGET}`, '--', ...args]);
        if (failed) throw new McpError(NO_RESOURCE, text);
        return { contents: [{ uri: uri.href, mimeType: 'text/plain', text }] };
      },
    );
  }
};

/** A call is named by its number, however a client writes it. */
const callOf = (variables: Variables): string => `@c${valueOf(variables, 'call').replace(/^@?c/, '')}`;

const valueOf = (variables: Variables, name: string): string => {
  const value = [variables[name] ?? ''].flat().join(',');
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
};

const listHistories = async (read: ReadAnswer): Promise<ListResourcesResult> => {
  const { text, failed } = await read(['histories', '--json', `--limit=${MOST_LISTED}`]);
  if (failed) return { resources: [] };
  const histories = JSON.parse(text) as readonly {
    readonly history: string;
    readonly name: string | null;
    readonly cycles: number;
  }[];
  return {
    resources: histories.map(({ history, name, cycles }) => ({
      uri: `stemma://histories/${history}`,
      name: visibleText(name ?? history),
      description: `${cycles} calls`,
      mimeType: 'text/plain',
    })),
  };
};
