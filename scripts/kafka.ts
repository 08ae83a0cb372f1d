/**
 * `npm run kafka`: a Kafka broker on the loopback address, from the Maven artefacts of infra/kafka/pom.xml. Its data stays
 * in the folder that it names; Ctrl-C ends it. Needs Java 17 and Maven, no Docker.
 */
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  brokerLibs,
  cacheFolder,
  freePorts,
  missingTools,
  newClusterId,
  startBroker,
} from '@stemma/test-kit';

const port = Number(process.env['PORT'] ?? 9092);
const directory = join(cacheFolder(), `broker-${port}`);

const missing = missingTools();
if (missing !== undefined) {
  process.stderr.write(`${missing}\n`);
  process.exit(74);
}
process.stderr.write('Looking for the broker’s jars; Maven fetches 43 MB the first time.\n');
const libs = await brokerLibs();
mkdirSync(directory, { recursive: true });
const lock = join(directory, 'pid');
if (isRunning(lock)) {
  process.stderr.write(`A broker already runs on the data in ${directory}.\n`);
  process.exit(74);
}
writeFileSync(lock, String(process.pid));

const ports = { broker: port, controller: (await freePorts()).controller };
const broker = await startBroker({
  libs,
  directory,
  ports,
  node: { id: 1, ports: [ports], cluster: clusterId(join(directory, 'cluster')) },
});
process.stdout.write(
  `Kafka answers at ${broker.address}; its data is in ${directory}. Ctrl-C ends it.\n` +
    `STEMMA_LOG=kafka://${broker.address}/stemma\n`,
);
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
await broker.stop();
rmSync(lock, { force: true });

/** The same for ever: a broker refuses data of another cluster. */
function clusterId(file: string): string {
  if (!existsSync(file)) writeFileSync(file, newClusterId());
  return readFileSync(file, 'utf8');
}

function isRunning(file: string): boolean {
  if (!existsSync(file)) return false;
  try {
    process.kill(Number(readFileSync(file, 'utf8')), 0);
    return true;
  } catch {
    return false;
  }
}
