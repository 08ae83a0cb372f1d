import { execFileSync } from 'node:child_process';
import { sharedInRun, type SharedServer } from '../shared-run.ts';
import { brokerLibs } from './broker-libs.ts';
import { startBroker } from './broker.ts';
import { engineAnswers, startContainerBroker } from './container-broker.ts';

/** The addresses of a broker for tests, or the reason with which tests are skipped because there is none. */
export type FoundBroker = { readonly brokers: readonly string[] } | { readonly skip: string };

/**
 * Finds the broker that all tests of a run share; each test creates topics of its own on it. It is the one at
 * `KAFKA_BROKERS` (`host:port,…`), otherwise one in a container if a Docker engine answers, otherwise one from Maven if
 * Java and Maven are installed; the first test that needs it starts it. `STEMMA_BROKER=maven` skips the container.
 */
export const findBroker = async (environment: NodeJS.ProcessEnv = process.env): Promise<FoundBroker> => {
  const given = environment['KAFKA_BROKERS'] ?? '';
  if (given !== '') return { brokers: given.split(',') };
  try {
    return { brokers: [await sharedInRun('broker', start, environment)] };
  } catch (error) {
    return { skip: `no broker: ${error instanceof Error ? error.message : String(error)}` };
  }
};

/** Why no broker can be started here; undefined if one can. */
export const missingTools = (): string | undefined => {
  const missing = ['java', 'mvn'].filter((tool) => !isThere(tool));
  return missing.length === 0
    ? undefined
    : `no Kafka here: set KAFKA_BROKERS, start a Docker engine, or install ${missing.join(' and ')}`;
};

const isThere = (tool: string): boolean => {
  try {
    execFileSync(tool, ['-version'], { stdio: 'ignore', timeout: 120_000 });
    return true;
  } catch {
    return false;
  }
};

const start = async (directory: string): Promise<SharedServer> => {
  const missing = missingTools();
  if (process.env['STEMMA_BROKER'] !== 'maven' && (await engineAnswers()))
    try {
      return { pid: 0, ...(await startContainerBroker()) };
    } catch (error) {
      // An engine that cannot pull the image, for instance.
      if (missing !== undefined) throw error;
    }
  if (missing !== undefined) throw new Error(missing);
  const broker = await startBroker({ libs: await brokerLibs(), directory, detached: true });
  return { address: broker.address, pid: broker.pid() };
};
