import type { Doctor } from '@stemma/api';
import type { DoctorReport } from '@stemma/home';

/** The report as the API gives it. Whoever may read the home may know where its log is. */
export const doctorAnswer = ({
  log,
  topic,
  partitions,
  stopped,
  clock,
  findings,
  ...rest
}: DoctorReport): Doctor => ({
  ...rest,
  log: { ...log },
  topic: topic === null ? null : { ...topic, settings: { ...topic.settings }, faults: [...topic.faults] },
  partitions: partitions.map(({ fenced, ...each }) => ({ ...each, fenced: { ...fenced } })),
  stopped: [...stopped],
  clock: { ...clock },
  findings: findings.map((finding) => ({ ...finding })),
});
