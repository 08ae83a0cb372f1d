import { DEFECTS, HISTORY_HEADS } from '@stemma/history-store';
import { VERSION } from '@stemma/errors';
import { FRAME_VERSION } from '@stemma/events';
import type { EventLog } from '@stemma/log';
import { isClosed, signatureOf } from '@stemma/projector';
import { listHistories } from '@stemma/read-models';
import { findRow, listRows } from '@stemma/row-store';
import { millisecondsOf } from '@stemma/values';
import { findAltered, type AlteredRecord } from './find-altered.ts';
import type { Finding } from './finding.ts';
import { damageSentences, isDamage, lostSentences, readDamage } from './read-damage.ts';
import { findSecrets, type SecretsScope } from './find-secrets.ts';
import { inspectDirectory } from './inspect-directory.ts';
import type { LogTopic } from './open-log.ts';
import type { Services } from './services.ts';

export type PartitionHealth = {
  readonly partition: number;
  readonly start: number;
  readonly end: number;
  /** The offset that the rows have reached, and how many offsets remain to the end of the log. */
  readonly rows: number;
  readonly lag: number;
  readonly accepted: number;
  readonly stale: Readonly<Record<string, number>>;
  /** The number of damaged records, and whether one of them closes the partition. */
  readonly damaged: number;
  readonly closed: boolean;
};

export type DoctorReport = {
  /** `frames`: the newest version of frames that it writes. `rows`: the read models of each group of rows, with their versions. */
  readonly versions: {
    readonly stemma: string;
    readonly node: string;
    readonly frames: number;
    readonly rows: readonly string[];
  };
  readonly log: { readonly address: string; readonly id: string; readonly partitions: number };
  /** True if no acknowledged record can be lost with the power, or with one broker. */
  readonly keepsItsEnd: boolean;
  /** For a log on Kafka: its topic, replicas and settings; null for an embedded log. */
  readonly topic: LogTopic | null;
  readonly partitions: readonly PartitionHealth[];
  readonly histories: number;
  readonly stopped: readonly string[];
  /** Records that were damaged after they had been folded. A log on Kafka is searched for a second. */
  readonly altered: readonly AlteredRecord[];
  /** Milliseconds since 1970: this machine's clock, and the newest time in the rows. */
  readonly clock: { readonly now: number; readonly newest: number | null };
  readonly findings: readonly Finding[];
};

/** Milliseconds that the clock may differ from the newest recorded time before the report mentions it. */
const CLOCK_DRIFT = 5_000;
/** How long a log on Kafka is read again: all of it may take hours over the network. */
const KAFKA_MILLISECONDS = 1_000;

/**
 * Reports the state of a home: its log and whether it can lose records, how far the rows are behind, who can read its
 * files, and which contents look like secrets. It brings the rows to the log's end if it can, reads every folded
 * record again (on Kafka those that a second is enough for), and changes nothing else.
 */
export const diagnose = async (
  services: Services,
  secrets: SecretsScope = 'sample',
): Promise<DoctorReport> => {
  const { log, projection, clock, logAddress: place } = services;
  // Where rows cannot follow the log, the report says how far behind they are.
  await projection.catchUp().catch(() => undefined);
  const partitions = await readPartitionHealth(services);
  const { histories, newest, stopped } = await projection.read((view) => {
    const rows = listHistories(view);
    return {
      histories: rows.length,
      newest: rows.reduce<number | null>((most, { newestAt }) => {
        const at = millisecondsOf(newestAt);
        return most === null || at > most ? at : most;
      }, null),
      stopped: [
        ...listRows(view, HISTORY_HEADS, {}).filter(({ state }) => state !== null),
        ...listRows(view, DEFECTS, {}),
      ]
        .map(({ history }) => history)
        .filter((history) => isDamage(findRow(view, DEFECTS, { history })?.code)),
    };
  });
  const now = millisecondsOf(clock());
  const altered = await findAltered(services, place.facts === null ? Infinity : KAFKA_MILLISECONDS);
  const report = {
    versions: {
      ...{ stemma: VERSION, node: process.versions.node, frames: FRAME_VERSION },
      rows: services.projectors.map(({ options: { models, keepFrames } }) => signatureOf(models, keepFrames)),
    },
    log: { address: place.address, id: log.id, partitions: log.partitions },
    keepsItsEnd: log.keepsItsEnd,
    topic: place.facts,
    partitions,
    histories,
    stopped: [...new Set(stopped)],
    altered: altered.records,
    clock: { now, newest },
  };
  const findings = [...listFindings(report), ...inspectDirectory(services.directory)];
  const { sealed, lost } = await readDamage(services);
  for (const message of lostSentences(lost)) findings.push({ level: 'warning', message });
  for (const message of damageSentences({ closed: [], stopped: [], sealed }))
    findings.push({ level: 'warning', message });
  findings.push(...altered.findings);
  for await (const finding of findSecrets(services, secrets)) findings.push(finding);
  for (const message of services.repairs) findings.push({ level: 'warning', message });
  return { ...report, findings };
};

/** For each partition: the offset of its rows, and the stale and damaged records up to it. */
export const readPartitionHealth = ({
  log,
  projection,
}: Pick<Services, 'log' | 'projection'>): Promise<readonly PartitionHealth[]> =>
  Promise.all(
    Array.from({ length: log.partitions }, (_, partition) => healthOfPartition(log, projection, partition)),
  );

const healthOfPartition = async (
  log: EventLog,
  projection: Services['projection'],
  partition: number,
): Promise<PartitionHealth> => {
  const [start, end] = [await log.start(partition), await log.end(partition)];
  const checkpoint = await projection.checkpoint(partition);
  const rows = checkpoint?.cursor.offset ?? start;
  return {
    partition,
    start,
    end,
    rows,
    lag: Math.max(end - rows, 0),
    accepted: checkpoint?.state.accepted ?? 0,
    stale: { ...checkpoint?.state.stale },
    damaged: checkpoint?.state.damage.length ?? 0,
    closed: isClosed(checkpoint),
  };
};

/** What an operator should look at, by rules that read only the report. */
export function* listFindings(report: Omit<DoctorReport, 'findings'>): Generator<Finding> {
  const { topic, partitions, stopped, altered, clock, keepsItsEnd } = report;
  if (topic !== null && !keepsItsEnd)
    yield {
      level: 'warning',
      message:
        `the topic has ${topic.replicas} replicas and min.insync.replicas ${topic.minInSync}: acknowledged records ` +
        'survive a broker crash, but not a power failure of its machine; use three brokers, ' +
        'min.insync.replicas=2 and unclean.leader.election.enable=false',
    };
  if (topic?.uncleanElection === true)
    yield {
      level: 'error',
      message: 'unclean.leader.election.enable is true: acknowledged records can be lost; set it to false',
    };
  if (topic !== null && topic.inSync < topic.replicas)
    yield {
      level: 'warning',
      message: `a partition has ${topic.inSync} of ${topic.replicas} replicas in sync`,
    };
  if (topic !== null && topic.partitions > report.log.partitions)
    yield {
      level: 'warning',
      message:
        `the topic has ${topic.partitions} partitions, but the log was created with ${report.log.partitions}: ` +
        'the other partitions are not used',
    };
  for (const fault of topic?.faults ?? []) yield { level: 'error', message: fault };
  for (const { partition, closed, start, end, rows } of partitions) {
    if (closed)
      yield {
        level: 'error',
        message: `partition ${partition} is closed by a damaged record: \`stemma verify\` names it`,
      };
    if (start > 0)
      yield { level: 'error', message: `partition ${partition} lost its records before ${start}` };
    if (rows > end)
      yield { level: 'error', message: `partition ${partition} lost its end: the rows reach offset ${rows}` };
  }
  for (const { partition, offset, history } of altered)
    yield {
      level: 'error',
      message:
        `the record ${partition}@${offset}${history === null ? '' : ` of ${history}`} was damaged after it had been read: ` +
        'restore it from a copy, or let `stemma verify` rebuild the rows without it',
    };
  for (const history of stopped)
    yield {
      level: 'error',
      message: `the history ${history} is damaged or defective: \`stemma verify\` names the record`,
    };
  if (clock.newest !== null && clock.newest > clock.now + CLOCK_DRIFT)
    yield {
      level: 'warning',
      message: `the newest record is ${Math.round((clock.newest - clock.now) / 1000)} s ahead of this machine's clock`,
    };
}
