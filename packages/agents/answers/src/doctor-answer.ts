import type { Doctor } from '@stemma/api';
import type { DoctorReport } from '@stemma/operations';
import type { PathHider } from './hide-paths.ts';

/** The report as the API returns it: where the log is, but not where on the server the home is. */
export const doctorAnswer = (report: DoctorReport, { text }: PathHider): Doctor => {
  const { versions, log, topic, partitions, stopped, altered, clock, findings, ...rest } = report;
  return {
    ...rest,
    versions: { ...versions, rows: [...versions.rows] },
    log: { ...log, address: text(log.address) },
    topic: topic === null ? null : topicAnswer(topic),
    partitions: partitions.map(({ stale, ...each }) => ({ ...each, stale: { ...stale } })),
    stopped: [...stopped],
    altered: altered.map((record) => ({ ...record })),
    clock: { ...clock },
    findings: findings.map((finding) => ({ ...finding, message: text(finding.message) })),
  };
};

/** A report may know more of a topic than the contract of the API has. */
const topicAnswer = (topic: NonNullable<DoctorReport['topic']>): NonNullable<Doctor['topic']> => ({
  topic: topic.topic,
  brokers: topic.brokers,
  replicas: topic.replicas,
  inSync: topic.inSync,
  minInSync: topic.minInSync,
  uncleanElection: topic.uncleanElection,
  settings: { ...topic.settings },
  faults: [...topic.faults],
});
