import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { brokerLibs, missingTools, newClusterId } from '../src/index.ts';
import { formatDirectory } from '../src/kafka/java.ts';

const missing = missingTools();

/** The names in a properties file, and the values of those that do not differ between two brokers. */
const propertiesIn = (file: string): ReadonlySet<string> =>
  new Set(
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => line.replace(/^(directory\.id)=[\w-]{22}$/, '$1')),
  );

it(
  'a directory that is made ready for a broker is the one that Kafka’s own tool makes',
  { tags: ['long'] },
  async ({ skip }) => {
    if (missing !== undefined) return skip(missing);
    const folder = mkdtempSync(join(tmpdir(), 'stemma-format-'));
    try {
      const prepared = await brokerLibs();
      const { features, ...plain } = prepared;
      expect(features).toBeTypeOf('string');
      const node = { id: 2, cluster: newClusterId() };
      const made = await Promise.all(
        [prepared, plain].map(async (libs, i) => {
          const data = join(folder, String(i), 'data');
          mkdirSync(join(folder, String(i)));
          const properties = join(folder, String(i), 'server.properties');
          writeFileSync(
            properties,
            `process.roles=broker,controller\nnode.id=2\nlog.dirs=${data}\n` +
              'listeners=PLAINTEXT://127.0.0.1:1,CONTROLLER://127.0.0.1:2\ncontroller.listener.names=CONTROLLER\n' +
              'controller.quorum.voters=1@127.0.0.1:3,2@127.0.0.1:2,3@127.0.0.1:4\n',
          );
          await formatDirectory(libs, { data, properties, node });
          return {
            files: new Set(readdirSync(data)),
            properties: propertiesIn(join(data, 'meta.properties')),
            features: recordsIn(readFileSync(join(data, 'bootstrap.checkpoint'))),
          };
        }),
      );
      expect(made[0]).toEqual(made[1]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
);

/** The bytes of a checkpoint without what differs from one moment to the next: times and the checksums over them. */
const recordsIn = (checkpoint: Buffer): string => {
  const bytes = Buffer.from(checkpoint);
  for (let at = 0; at < bytes.length; at += bytes.readInt32BE(at + 8) + 12) {
    bytes.fill(0, at + 17, at + 21);
    bytes.fill(0, at + 27, at + 43);
  }
  return bytes.toString('hex');
};
