import { openLogSource } from '@stemma/home';
import { publicKeyFrom, readCheckpoint, verifySince } from '@stemma/operations';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { block, openAirline, type Airline } from './airline.ts';

let airline: Airline;
beforeAll(async () => {
  airline = await openAirline();
});
afterAll(() => airline.close());

test('a checkpoint signed by the gateway proves later that the log was only appended to', async () => {
  const { log, publicKey, partitions, checkpoint } = await airline.client.checkpoint({});
  const heads = readCheckpoint(checkpoint, publicKeyFrom(publicKey));
  expect(partitions).toEqual(
    heads.map(({ size, root }, partition) => ({
      partition,
      size,
      root: Buffer.from(root).toString('base64'),
    })),
  );
  const then = partitions[0]?.size ?? 0;
  expect(then).toBeGreaterThan(5);

  await airline.record('later', block('late', 'One more.'));
  const source = await openLogSource({ directory: airline.home.directory });
  expect(source.log.id).toBe(log);
  expect(await verifySince(source.log, heads)).toEqual([{ partition: 0, then, now: then + 1 }]);
  await source.close();
});
