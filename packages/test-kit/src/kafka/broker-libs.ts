import kafkajs from 'kafkajs';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inRun, sharedInRun } from '../shared-run.ts';
import { startBroker } from './broker.ts';
import { run, type BrokerLibs } from './java.ts';
import { readTopic } from './read-topic.ts';

const POM = join(import.meta.dirname, '../../../../infra/kafka/pom.xml');

/** Where jars are kept: `STEMMA_CACHE`, else `.cache/stemma` below the home directory. */
export const cacheFolder = (environment: NodeJS.ProcessEnv = process.env): string =>
  environment['STEMMA_CACHE'] ?? join(homedir(), '.cache', 'stemma');

/**
 * The class path and the flags of a Kafka broker: the jars of infra/kafka/pom.xml, which Maven downloads the first time. In a
 * run of tests the first caller also starts a broker once to store its loaded classes and the format of its directory; with
 * these the other brokers of the run start in two thirds of the time.
 *
 * @throws Error with what Maven printed
 */
export const brokerLibs = async (cache = cacheFolder()): Promise<BrokerLibs> => {
  const jars = await jarsIn(cache);
  const plain: BrokerLibs = { classPath: join(jars, '*'), flags: [] };
  const prepared = `${jars}-${await javaVersion()}`;
  if (!existsSync(prepared) && inRun())
    await sharedInRun('broker-classes', async (folder) => {
      await prepare(plain, folder, prepared);
      return { address: prepared, pid: 0 };
    });
  if (!existsSync(prepared)) return plain;
  return {
    ...plain,
    // Java passes over an archive of other classes.
    flags: [`-XX:SharedArchiveFile=${join(prepared, CLASSES)}`, '-Xshare:auto', '-Xlog:cds=off'],
    features: join(prepared, FEATURES),
  };
};

const CLASSES = 'classes.jsa';
const FEATURES = 'bootstrap.checkpoint';

const jarsIn = async (cache: string): Promise<string> => {
  const [, version = ''] =
    /<artifactId>kafka_[\d.]+<\/artifactId>\s*<version>([\d.]+)</.exec(readFileSync(POM, 'utf8')) ?? [];
  const jars = join(cache, `kafka-${version}`);
  if (existsSync(jars)) return jars;
  mkdirSync(cache, { recursive: true });
  const part = `${jars}.${process.pid}`;
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies';
  await run('mvn', ['-q', '-B', '-f', POM, goal, `-DoutputDirectory=${part}`]);
  moveWhole(part, jars);
  return jars;
};

/** An archive of classes is of use to the Java that wrote it only. */
const javaVersion = async (): Promise<string> =>
  createHash('sha256')
    .update(await run('java', ['-version']))
    .digest('hex')
    .slice(0, 8);

/** Lets a broker live as tests use one, and keeps what it leaves. */
const prepare = async (plain: BrokerLibs, directory: string, target: string): Promise<void> => {
  const part = `${target}.${process.pid}`;
  mkdirSync(part, { recursive: true });
  const libs = { ...plain, flags: [`-XX:ArchiveClassesAtExit=${join(part, CLASSES)}`, '-Xlog:cds=off'] };
  const broker = await startBroker({ libs, directory });
  await use(broker.address);
  copyFileSync(join(directory, 'data', FEATURES), join(part, FEATURES));
  await broker.stop();
  rmSync(directory, { recursive: true, force: true });
  moveWhole(part, target);
};

const use = async (address: string): Promise<void> => {
  const kafka = new kafkajs.Kafka({ brokers: [address], logLevel: kafkajs.logLevel.NOTHING });
  const [admin, producer] = [kafka.admin(), kafka.producer()];
  await Promise.all([admin.connect(), producer.connect()]);
  await admin.createTopics({ topics: [{ topic: 'used', numPartitions: 1 }], waitForLeaders: true });
  await producer.send({ topic: 'used', messages: [{ key: 'key', value: 'value' }] });
  await Promise.all([admin.disconnect(), producer.disconnect()]);
  await readTopic([address], 'used');
};

/** Another process may have been faster. */
const moveWhole = (part: string, target: string): void => {
  try {
    renameSync(part, target);
  } catch (error) {
    rmSync(part, { recursive: true, force: true });
    if (!existsSync(target)) throw error;
  }
};
