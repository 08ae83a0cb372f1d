import type { Doctor } from '@stemma/api';
import type { DoctorReport } from '@stemma/operations';

/** The report as the API returns it. A client that may read the home may know where its log is. */
export const doctorAnswer = ({
  log,
  topic,
  partitions,
  stopped,
  altered,
  clock,
  findings,
  ...rest
}: DoctorReport): Doctor => ({
  ...rest,
  log: { ...log },
  topic: topic === null ? null : topicAnswer(topic),
  partitions: partitions.map(({ stale, ...each }) => ({ ...each, stale: { ...stale } })),
  stopped: [...stopped],
  altered: altered.map((record) => ({ ...record })),
  clock: { ...clock },
  findings: findings.map((finding) => ({ ...finding })),
});

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
