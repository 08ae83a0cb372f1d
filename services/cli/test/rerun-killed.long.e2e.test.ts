import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { openRerunBench } from './rerun-agent.ts';

const WITHIN = 120_000;

let bench: Awaited<ReturnType<typeof openRerunBench>>;
beforeAll(async () => {
  bench = await openRerunBench();
});
afterAll(() => bench.close());

/** Runs the agent again, and kills the program and the agent when a condition holds. @param answers that the agent has got by then */
const killWhen = async (
  home: string,
  [shop, ...options]: readonly [history: string, ...options: string[]],
  holds: (answers: number) => boolean,
  env: NodeJS.ProcessEnv = {},
): Promise<void> => {
  const stuck = join(bench.directory, `stuck-${home}`);
  const written = (): readonly number[] =>
    existsSync(stuck) ? readFileSync(stuck, 'utf8').split(' ').map(Number) : [];
  const ran = bench.run(home, ['rerun', shop, ...options, '--', ...bench.command], { ...env, STUCK: stuck });
  try {
    await vi.waitFor(() => expect(holds(written()[2] ?? 0)).toBe(true), { timeout: WITHIN, interval: 50 });
  } finally {
    const [agent, program] = written();
    for (const each of [program, agent]) if (each !== undefined) process.kill(each, 'SIGKILL');
    await ran;
  }
};
const isAnsweredTwice = (answers: number): boolean => answers === 2;

/** The names of the branches of a history, and the reruns that are recorded of it. */
const leftIn = async (home: string, shop: string): Promise<readonly [branches: string[], reruns: number]> => {
  const { code } = await bench.run(home, ['verify']);
  expect(code).toBe(0);
  const { stdout } = await bench.run(home, ['calls', shop, '--runs', '--json']);
  const { reruns } = JSON.parse(stdout) as { readonly reruns: readonly unknown[] };
  const branches = await bench.inHome(home, async (opened) => {
    const tree = await opened.branches.tree(shop);
    return tree.map(({ name }) => name ?? '');
  });
  return [branches, reruns.length];
};

describe('a rerun that is killed in the middle', () => {
  test('leaves nothing where all was served, and the next one is the same', async () => {
    const shop = await bench.record('served');
    await killWhen('served', [shop], isAnsweredTwice);
    expect(await leftIn('served', shop)).toEqual([['main'], 0]);
    const { code, report, asked } = await bench.rerun('served', {});
    expect([code, report['same'], asked]).toEqual([0, 3, []]);
  });

  test('leaves the calls that its provider answered, and the next one goes live by itself', async () => {
    const shop = await bench.record('live');
    await killWhen('live', [shop, '--from', '@c2', '--name', 'killed'], isAnsweredTwice);
    bench.provider.take();
    expect(await leftIn('live', shop)).toEqual([['main', 'killed'], 0]);
    const served = await bench.rerun('live', {});
    expect([served.code, served.report['same'], served.asked]).toEqual([0, 3, []]);
    // What was under way is in the log since a proxy was opened again.
    await bench.inHome('live', async (opened) => {
      const { attempts } = await opened.calls.list(await opened.find(`${shop}:killed`));
      expect(attempts.map(({ label }) => label)).toEqual(['@c1', '@c2']);
    });
    const live = await bench.rerun('live', {}, '--from', '@c2', '--name', 'second');
    expect([live.code, live.asked.length]).toEqual([0, 2]);
    expect(await leftIn('live', shop)).toEqual([['main', 'killed', 'second'], 2]);
  });

  test('says of a call that its provider had not answered that it has failed', async () => {
    const shop = await bench.record('asked');
    let asked = 0;
    const silent = createServer(() => asked++).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const url = `http://127.0.0.1:${(silent.address() as AddressInfo).port}/v1`;
    const options = [shop, '--from', '@c2', '--name', 'killed'] as const;
    await killWhen('asked', options, () => asked === 1, { STEMMA_UPSTREAM_OPENAI: url });
    silent.closeAllConnections();
    silent.close();
    expect(await leftIn('asked', shop)).toEqual([['main', 'killed'], 0]);
    const again = await bench.rerun('asked', {});
    expect([again.code, again.report['same'], again.asked]).toEqual([0, 3, []]);
    await bench.inHome('asked', async (opened) => {
      const { attempts } = await opened.calls.list(await opened.find(`${shop}:killed`));
      expect(attempts.map(({ label, status }) => `${label} ${status}`)).toEqual([
        '@c1 answered',
        '@c2 failed',
      ]);
    });
  });
});
