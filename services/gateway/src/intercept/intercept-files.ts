import { replaceFile } from '@stemma/machine';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EXTRA_VARIABLES, BUNDLE_VARIABLES, certificatesIn, trustedRoots } from '../proxy/trusted-roots.ts';

/** An environment. */
type Env = Readonly<Record<string, string | undefined>>;

/** What a command is given so that it uses a proxy that intercepts, and trusts it: certificates alone, and no key. */
export type InterceptFiles = {
  /** Its variables; those that are not named here stay. */
  readonly variables: Readonly<Record<string, string>>;
  remove(): Promise<void>;
};

/**
 * Writes what a command has to read, in a folder of its own.
 *
 * @param env the environment that the command would have had
 * @param isRead true of hosts that must not go past the proxy
 */
export const writeInterceptFiles = async (
  env: Env,
  { url, certificate }: { readonly url: string; readonly certificate: string },
  isRead: (host: string) => boolean,
): Promise<InterceptFiles> => {
  const folder = await mkdtemp(join(tmpdir(), 'stemma-'));
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(folder, name);
    await replaceFile(path, text);
    return path;
  };
  const bundle = await write('roots.pem', [...trustedRoots(env), certificate].join('\n'));
  const extra = await write(
    'extra.pem',
    [...EXTRA_VARIABLES.flatMap((name) => certificatesIn(env[name])), certificate].join('\n'),
  );
  const preload = await write('use-proxy.cjs', preloadFor(url));
  const bypassed = (env['NO_PROXY'] ?? env['no_proxy'] ?? '')
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '' && !isRead(entry))
    .join(',');
  return {
    variables: {
      ...same(['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'], url),
      ...same(['NO_PROXY', 'no_proxy'], bypassed),
      ...same(BUNDLE_VARIABLES, bundle),
      ...same(EXTRA_VARIABLES, extra),
      NODE_USE_ENV_PROXY: '1',
      NODE_OPTIONS: `${env['NODE_OPTIONS'] ?? ''} --require ${JSON.stringify(preload)}`.trimStart(),
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
};

const same = (names: readonly string[], value: string): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, value]));

/**
 * A program for versions of Node.js that do not read `NODE_USE_ENV_PROXY`: it has `fetch` and the agents of `http` and `https` use
 * the proxy. The others run it and nothing happens.
 */
const preloadFor = (url: string): string => {
  const { resolve } = createRequire(import.meta.url);
  const [undici, https, http] = ['undici', 'https-proxy-agent', 'http-proxy-agent'].map((name) =>
    JSON.stringify(resolve(name)),
  );
  return `'use strict';
const [major, minor] = process.versions.node.split('.').map(Number);
const readsVariables = major > 24 || (major === 24 && minor >= 5) || (major === 22 && minor >= 21);
if (!readsVariables && typeof Bun === 'undefined' && typeof Deno === 'undefined') {
  const proxy = ${JSON.stringify(url)};
  try {
    require('node:https').globalAgent = new (require(${https}).HttpsProxyAgent)(proxy, { keepAlive: true });
    require('node:http').globalAgent = new (require(${http}).HttpProxyAgent)(proxy, { keepAlive: true });
    const { ProxyAgent } = require(${undici});
    globalThis[Symbol.for('undici.globalDispatcher.1')] = new ProxyAgent(proxy);
  } catch {
    // A version that none of these runs on goes its own way.
  }
}
`;
};
