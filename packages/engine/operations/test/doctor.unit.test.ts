import { expect, it } from 'vitest';
import { listFindings, type DoctorReport } from '../src/doctor.ts';

const partition = {
  partition: 0,
  start: 0,
  end: 9,
  rows: 9,
  lag: 0,
  accepted: 9,
  stale: {},
  damaged: 0,
  closed: false,
};
const topic = {
  topic: 't.frames',
  brokers: 3,
  replicas: 3,
  inSync: 3,
  minInSync: 2,
  uncleanElection: false,
  partitions: 1,
  settings: {},
  faults: [],
};
const sound: Omit<DoctorReport, 'findings'> = {
  versions: { stemma: '1.2.3', node: '24.0.0', frames: 1, rows: [] },
  log: { address: 'kafka://h:1/t', id: 'id', partitions: 1 },
  keepsItsEnd: true,
  topic,
  partitions: [partition],
  histories: 1,
  stopped: [],
  altered: [],
  clock: { now: 1_000_000, newest: 999_000 },
};

it.each<[string, Partial<typeof sound>, readonly string[]]>([
  ['nothing in a sound one', {}, []],
  ['nothing in an embedded one', { topic: null, keepsItsEnd: true }, []],
  [
    'one broker',
    { keepsItsEnd: false, topic: { ...topic, replicas: 1, inSync: 1, minInSync: 1 } },
    ['warning: min.insync.replicas=2'],
  ],
  [
    'unclean elections',
    { keepsItsEnd: false, topic: { ...topic, uncleanElection: true } },
    ['warning: power failure', 'error: unclean.leader.election.enable is true'],
  ],
  ['a replica that is behind', { topic: { ...topic, inSync: 2 } }, ['warning: 2 of 3 replicas in sync']],
  [
    'a setting that loses frames',
    { topic: { ...topic, faults: ['retention.ms is 5'] } },
    ['error: retention.ms is 5'],
  ],
  ['partitions that were added', { topic: { ...topic, partitions: 4 } }, ['warning: was created with 1']],
  ['a closed partition', { partitions: [{ ...partition, closed: true }] }, ['error: partition 0 is closed']],
  ['a lost beginning', { partitions: [{ ...partition, start: 3 }] }, ['error: lost its records before 3']],
  ['a lost end', { partitions: [{ ...partition, rows: 12 }] }, ['error: lost its end']],
  [
    'a record that was damaged later',
    { altered: [{ partition: 0, offset: 7, history: 'hbad' }] },
    ['error: the record 0@7 of hbad was damaged'],
  ],
  ['a history that stops', { stopped: ['hbad'] }, ['error: hbad']],
  ['a clock that is behind', { clock: { now: 1_000_000, newest: 1_060_000 } }, ['warning: 60 s ahead']],
])('the doctor finds %s', (_what, changes, expected) => {
  const found = [...listFindings({ ...sound, ...changes })];
  expect(found.map(({ level }) => level)).toEqual(expected.map((each) => each.split(':')[0]));
  for (const [i, each] of expected.entries())
    expect(found[i]?.message).toContain(each.slice(each.indexOf(':') + 2));
});
