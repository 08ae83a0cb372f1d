import type { DoctorReport, PartitionHealth } from '@stemma/operations';
import type { TopCommand } from '../command.ts';
import { printable } from '../output.ts';
import { withTitles } from '../titles.ts';

export const doctor: TopCommand = {
  name: 'doctor',
  summary: 'check the log and the rows and list findings; exit 5 on an error',
  group: 'Check and mend',
  place: 1,
  example: 'stemma doctor --secrets',
  arguments: [],
  options: [['--secrets', 'search all frames for texts that look like secrets (default: a sample)']],
  reportsDamage: true,
  run: async ({ home: open, output }, _args, options) => {
    const home = await open();
    const report = await home.operations.doctor(options['secrets'] === true ? 'all' : 'sample');
    const text = await withTitles(home, describe(report));
    await output.result(report, () => text);
    return report.findings.some(({ level }) => level === 'error') ? 5 : 0;
  },
};

const describe = (report: DoctorReport): string => {
  const { versions, log, topic, partitions, histories, findings, clock } = report;
  const lines: [string, string][] = [
    ['stemma', `${versions.stemma}, Node.js ${versions.node}, frames of version ${versions.frames}`],
    ['log', printable(log.address)],
    ['id', log.id],
    [
      'durable',
      report.keepsItsEnd
        ? 'acknowledged frames survive a power failure'
        : 'acknowledged frames survive until a power failure',
    ],
  ];
  if (topic !== null) {
    const { replicas, inSync, minInSync, uncleanElection, brokers } = topic;
    lines.push(['topic', `${topic.topic}, ${log.partitions} partitions on ${brokers} brokers`]);
    lines.push([
      'replicas',
      `${replicas}, ${inSync} in sync, ${minInSync} needed; unclean election ${uncleanElection ? 'on' : 'off'}`,
    ]);
    const { 'retention.ms': time, 'retention.bytes': bytes, 'cleanup.policy': policy } = topic.settings;
    lines.push([
      'retention',
      `${time === '-1' && bytes === '-1' ? 'forever' : `${time} ms, ${bytes} bytes`}, ${policy}`,
    ]);
  }
  lines.push([
    'clock',
    `${new Date(clock.now).toISOString()}${clock.newest === null ? '' : `, newest record ${new Date(clock.newest).toISOString()}`}`,
  ]);
  lines.push(['histories', String(histories)]);
  for (const each of partitions) lines.push([`partition ${each.partition}`, describePartition(each)]);
  return (
    lines.map(([name, value]) => `${name.padEnd(12)} ${value}\n`).join('') +
    findings.map(({ level, message }) => `${level}: ${printable(message)}\n`).join('') +
    (findings.length === 0 ? 'no findings\n' : '')
  );
};

const describePartition = ({
  start,
  end,
  lag,
  accepted,
  stale,
  damaged,
  closed,
}: PartitionHealth): string => {
  const ignored = Object.values(stale).reduce((sum, count) => sum + count, 0);
  const parts = [
    `${start}–${end}`,
    `rows ${lag === 0 ? 'at the end' : `${lag} behind`}`,
    `${accepted} accepted`,
    `${ignored} stale`,
  ];
  if (damaged > 0) parts.push(`${damaged} damaged`);
  if (closed) parts.push('closed');
  return parts.join(', ');
};
