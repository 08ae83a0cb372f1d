import { fail } from '@stemma/errors';
import type { McpOptions } from '../agent/mcp-server.ts';
import { PERMISSIONS, type Permission } from '../agent/tools.ts';
import type { Context, TopCommand } from '../command.ts';
import { text, whole } from '../options.ts';

type Options = Readonly<Record<string, unknown>>;

/** @param commands all that there are: some of them are the tools */
export const mcpOf = (commands: () => Promise<readonly TopCommand[]>): TopCommand => ({
  name: 'mcp',
  summary:
    'serve histories to coding agents over the Model Context Protocol: read only unless more is allowed',
  group: 'Run services',
  example: 'stemma mcp',
  arguments: [],
  serves: () => true,
  options: [
    [
      '--allow <what...>',
      'what agents may do besides reading: intervene (change contexts, hold and release calls), rerun (run the recorded command again) (default: neither)',
    ],
    [
      '--http <port>',
      'the port of 127.0.0.1 at which clients find it (0: any that is free), for several clients at a time (default: one client, at stdin and stdout)',
    ],
    [
      '--actor <name>',
      'the person whom the agent works for, recorded with what it does (default: the agent alone)',
    ],
  ],
  run: async (context, _args, options) => {
    const served = await mcpOptions(context, await commands(), options);
    const port = whole(options, 'http', { least: 0, most: 65_535 });
    if (port !== undefined) {
      const { serveHttp } = await import('../agent/serve-http.ts');
      await serveHttp(context, port, served);
      return undefined;
    }
    const { serveStdio } = await import('../agent/serve-stdio.ts');
    await serveStdio(context, served);
    return undefined;
  },
});

const mcpOptions = async (
  { directory, env, signal }: Context,
  commands: readonly TopCommand[],
  options: Options,
): Promise<McpOptions> => {
  const allowed = new Set([options['allow'] ?? []].flat().map(permissionOf));
  const redact = text(options, 'redact');
  const { runCommands } = await import('../run-commands.ts');
  return {
    ...{ commands, allowed, around: { env, signal } },
    run: (words, around) => runCommands(commands, words, around),
    common: [`--home=${directory}`, ...(redact === undefined ? [] : [`--redact=${redact}`])],
    person: text(options, 'actor') ?? null,
  };
};

const permissionOf = (given: unknown): Permission => {
  const known = PERMISSIONS.find((each) => each === given);
  if (known !== undefined) return known;
  throw fail('E_USAGE', `--allow is ${PERMISSIONS.join(' or ')}, not ${JSON.stringify(given)}`);
};
