import kafkajs from 'kafkajs';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inRun, sharedInRun } from '../shared-run.ts';
import { startBroker } from './broker.ts';
import { run, type BrokerLibs } from './java.ts';
import { readTopic } from './read-topic.ts';

const POM = join(import.meta.dirname, '../../../../../infra/kafka/pom.xml');

/** Where jars are kept: `STEMMA_CACHE`, else `.cache/stemma` below the home directory. */
export const cacheFolder = (environment: NodeJS.ProcessEnv = process.env): string =>
  environment['STEMMA_CACHE'] ?? join(homedir(), '.cache', 'stemma');

/**
 * The class path and the Java flags that a broker needs, for example to start one with `startBroker({ libs })`. Maven
 * downloads the jars that infra/kafka/pom.xml lists, the first time. In a run of tests one broker is then started and
 * ended once to save an archive of its loaded classes and a formatted directory: with both, brokers start in two thirds
 * of the time.
 *
 * @throws Error with the message of Maven
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
    // Java ignores the archive if the classes differ.
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

/** Identifies the installed Java, since only the version that wrote an archive of classes can read it. */
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
