import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from './ports.ts';

const START = join(import.meta.dirname, '../../../../../infra/kafka/start-broker.sh');

/** Starting and ending are slow where layers are copied. */
const PATIENCE = 300_000;

/** A Kafka broker in a container, which outlives this process. */
export type ContainerBroker = { readonly address: string; readonly container: string };

/** True if a Docker engine answers: `DOCKER_HOST`, or the socket where engines usually listen. */
export const engineAnswers = async (environment: NodeJS.ProcessEnv = process.env): Promise<boolean> => {
  const sockets = ['/var/run/docker.sock', join(homedir(), '.docker/run/docker.sock')];
  // The library takes half a second to load: not where there is nothing to ask.
  if (!environment['DOCKER_HOST'] && !sockets.some((socket) => existsSync(socket))) return false;
  try {
    const { getContainerRuntimeClient } = await import('testcontainers');
    await getContainerRuntimeClient();
    return true;
  } catch {
    return false;
  }
};

/**
 * Starts a broker by testcontainers and resolves when it answers: the official image, or `KAFKA_IMAGE` that has Java and the
 * jars where that one has them.
 */
export const startContainerBroker = async (
  environment: NodeJS.ProcessEnv = process.env,
): Promise<ContainerBroker> => {
  // Its companion that removes containers is an image more to pull; whoever starts one here ends it.
  process.env['TESTCONTAINERS_RYUK_DISABLED'] ??= 'true';
  const { GenericContainer, Wait } = await import('testcontainers');
  const { broker: port } = await freePorts();
  const container = await new GenericContainer(environment['KAFKA_IMAGE'] ?? 'apache/kafka:4.1.1')
    .withExposedPorts({ container: 9092, host: port })
    .withEnvironment({ LISTEN: '0.0.0.0', ADVERTISED_PORT: String(port), DATA: '/tmp/kafka' })
    .withCopyFilesToContainer([{ source: START, target: '/start-broker.sh' }])
    .withEntrypoint(['bash', '/start-broker.sh'])
    .withStartupTimeout(PATIENCE)
    .withWaitStrategy(Wait.forListeningPorts())
    .start();
  return { address: `127.0.0.1:${port}`, container: container.getId() };
};

/** Ends a container and takes it away. */
export const removeContainer = async (id: string): Promise<void> => {
  const { getContainerRuntimeClient } = await import('testcontainers');
  const { container } = await getContainerRuntimeClient();
  await container.getById(id).remove({ force: true, v: true });
};
