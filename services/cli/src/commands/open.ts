import { PAGE_VIEWS } from '@stemma/api';
import { fail } from '@stemma/errors';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { addressesOf, redactOf, type TopCommand } from '../command.ts';
import { text } from '../options.ts';
import { positionOf } from '../references.ts';
import { noteServer, runningServer } from '../running-server.ts';

export const open: TopCommand = {
  name: 'open',
  summary: 'open the inspector in a browser, at a history and a position; serves it unless `stemma up` does',
  group: 'Look',
  place: 2,
  example: 'stemma open mine @c7',
  arguments: [
    ['[history]', 'a history or branch, by id or name (default: the one that changed last)'],
    ['[ref]', 'a position: @t-1 @c12 @s57 @name:NAME (default: the newest snapshot)'],
  ],
  serves: () => true,
  options: [
    ['--show <view>', `a view: ${PAGE_VIEWS.join(', ')} (default: the context at the position)`],
    ['--print', 'the address only, of the server that runs; no browser is opened'],
  ],
  run: async (context, [name, ref], options) => {
    const { directory, env, output, signal } = context;
    const query = new URLSearchParams();
    if (typeof name === 'string') {
      const { home, branchRef } = await context.findBranch(name);
      query.set('h', name);
      if (typeof ref === 'string') {
        // What is not there is said here, and not by the page.
        await home.position(branchRef, positionOf(ref));
        query.set('at', positionOf(ref));
      }
    }
    const view = viewOf(text(options, 'show'));
    if (view !== undefined && typeof name !== 'string')
      throw fail('E_USAGE', '--show is a view of a history: name one');
    if (view !== undefined) query.set('show', view);
    const search = query.size === 0 ? '' : `?${query.toString()}`;
    const running = await runningServer(directory);
    if (running !== undefined) {
      const url = `${running}/${search}`;
      await output.result({ url }, () => `${url}\n`);
      if (options['print'] !== true) openBrowser(url, env);
      return undefined;
    }
    if (options['print'] === true)
      throw fail(
        'E_USAGE',
        'no server runs for this home: `stemma up` starts one, and so does `stemma open`',
      );
    const { queryTimeoutOf, serveHome, upstreamsOf } = await import('@stemma/gateway');
    const server = await serveHome({
      home: { directory, create: false, ...addressesOf(env), ...redactOf(options, env) },
      upstreams: upstreamsOf(env),
      queryTimeout: queryTimeoutOf(env),
    });
    const forget = noteServer(directory, server.url);
    try {
      const url = `${server.url}/${search}`;
      await output.result({ url }, () => `${url} (served until Ctrl-C)\n`);
      openBrowser(url, env);
      // Ctrl-C may have come while the server started.
      if (!signal.aborted) await once(signal, 'abort');
    } finally {
      forget();
      await server.close();
    }
    return undefined;
  },
};

/** @throws E_USAGE for a word that is no view */
const viewOf = (given: string | undefined): string | undefined => {
  if (given === undefined || PAGE_VIEWS.some((view) => view === given)) return given;
  throw fail(
    'E_USAGE',
    `--show is one of ${PAGE_VIEWS.join(', ')}, not ${JSON.stringify(given.slice(0, 200))}`,
  );
};

/** The program that opens addresses, and its first arguments. */
const browserOf = (platform: NodeJS.Platform): readonly [program: string, args: readonly string[]] => {
  if (platform === 'darwin') return ['open', []];
  return platform === 'win32' ? ['rundll32', ['url.dll,FileProtocolHandler']] : ['xdg-open', []];
};

/** Opens an address in the browser of this machine. */
const openBrowser = (url: string, { BROWSER: own }: Readonly<Record<string, string | undefined>>): void => {
  const [program, args] =
    own !== undefined && own !== '' ? ([own, []] as const) : browserOf(process.platform);
  // The address is printed too: where no browser opens, nothing is lost.
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true });
  child.on('error', () => undefined);
  child.unref();
};
