import { historyId } from '@stemma/history';
import { openHome } from '@stemma/home';
import { brokerLibs, missingTools, readTopic, startBroker, sized } from '@stemma/test-kit';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { runRelay } from '../src/index.ts';

const missing = missingTools();
const until = async (what: string, holds: () => boolean): Promise<void> => {
  for (const late = Date.now() + 120_000; !holds();) {
    if (Date.now() > late) throw new Error(`waited 120 s for ${what}`);
    await sleep(20);
  }
};

test('when the broker of the topic is killed, the relay waits, continues, and leaves nothing out', async ({
  skip,
}) => {
  if (missing !== undefined) return skip(missing);
  const directory = mkdtempSync(join(tmpdir(), 'stemma-relay-'));
  const broker = await startBroker({ libs: await brokerLibs(), directory: join(directory, 'broker') });
  const home = await openHome({ directory: join(directory, 'home'), create: true });
  const stop = new AbortController();
  const said: string[] = [];
  try {
    const history = historyId('desk', '');
    const by = { recorder: 'test' };
    await home.submit({ id: 's', history, branchId: 0, by, steps: [{ op: 'start', name: 'desk' }] });
    let written = 0;
    let going = true;
    const writing = (async () => {
      for (; going; written++)
        await home.submit({
          id: `i${written}`,
          history,
          branchId: 0,
          by: { actor: 'test' },
          steps: [{ op: 'inject', text: `${written}` }],
        });
    })();
    const running = runRelay({
      directory: join(directory, 'home'),
      to: `kafka://${broker.address}/events?partitions=1`,
      deadline: 1000,
      signal: stop.signal,
      say: (sentence) => void said.push(sentence),
    });
    const waits = (): number => said.filter((sentence) => sentence.startsWith('waiting')).length;
    const returns = (): number => said.filter((sentence) => sentence === 'reconnected').length;
    for (let kill = 1; kill <= sized(1, 2); kill++) {
      const before = written;
      await until('more frames', () => written > before + 50);
      await broker.stop('SIGKILL');
      await until('it to say that it waits', () => waits() === kill);
      await broker.start();
      await until('it to go on', () => returns() === kill);
    }
    going = false;
    await writing;
    const expected = (await home.read.events(history, { limit: 100_000 })).map(
      ({ seq, index }) => `${seq}.${index}`,
    );
    const seen = new Set<string>();
    for (const late = Date.now() + 60_000; seen.size < expected.length && Date.now() < late;)
      for (const { headers } of await readTopic([broker.address], 'events'))
        seen.add(`${headers['seq'] ?? ''}.${headers['index'] ?? ''}`);
    expect([...seen]).toEqual(expected);
    stop.abort();
    await running;
  } finally {
    stop.abort();
    await home.close();
    await broker.stop('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  }
}, 300_000);
