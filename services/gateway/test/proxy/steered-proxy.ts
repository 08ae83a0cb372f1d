import { openHome, type Home } from '@stemma/home';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serveHome, upstreamsOf } from '../../src/index.ts';
import { startUpstream, type Script, type Upstream } from './scripted-upstream.ts';

/** A gateway that records calls to a scripted upstream, and the home as another process has it. */
export type SteeredProxy = AsyncDisposable & {
  readonly upstream: Upstream;
  readonly gateway: Awaited<ReturnType<typeof serveHome>>;
  /** Another process in all but name: only the log is between it and the gateway. */
  readonly home: Home;
};

/** Starts all of it on a home of its own, which goes with it. */
export const openSteeredProxy = async (script: Script): Promise<SteeredProxy> => {
  const directory = mkdtempSync(join(tmpdir(), 'stemma-steered-'));
  const upstream = await startUpstream(script);
  const gateway = await serveHome({
    home: { directory, create: true },
    port: 0,
    upstreams: upstreamsOf({
      STEMMA_UPSTREAM_OPENAI: `${upstream.url}/v1`,
      STEMMA_UPSTREAM_ANTHROPIC: upstream.url,
    }),
  });
  const home = await openHome({ directory });
  return {
    upstream,
    gateway,
    home,
    [Symbol.asyncDispose]: async () => {
      await home.close();
      await gateway.close();
      await upstream.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
};
