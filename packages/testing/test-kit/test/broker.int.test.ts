import { expect, it } from 'vitest';
import { freePorts, newClusterId } from '../src/index.ts';

it('the id of a cluster never begins like an option, whatever bytes it is made of', () => {
  for (let byte = 0; byte < 256; byte++) {
    const id = newClusterId(new Uint8Array(16).fill(byte));
    expect(id).toMatch(/^[A-Za-z0-9_][\w-]{21}$/);
    expect(Buffer.from(id, 'base64url')).toHaveLength(16);
  }
});

it('no port is given twice, and none that an outgoing connection may take', async () => {
  const given = (await Promise.all(Array.from({ length: 5 }, freePorts))).flatMap(Object.values) as number[];
  expect(new Set(given).size).toBe(10);
  expect(given.every((port) => port >= 10_000 && port < 32_000)).toBe(true);
});
