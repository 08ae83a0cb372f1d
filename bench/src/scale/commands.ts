import type { Asked, Measured } from './asked.ts';
import { NAME } from './record.ts';

type Arguments = readonly string[];

const page = (ask: (calls: number) => Arguments): Measured<Arguments> => ({ growth: 'page', ask });
const whole = (ask: (calls: number) => Arguments): Measured<Arguments> => ({ growth: 'whole', ask });
const middle = (calls: number): number => Math.floor(calls / 2);
const because = (reason: string): Asked<Arguments> => ({ reason });

const MODEL = because('it asks a model or runs a program: the time is theirs');
const SERVICE = because('it runs until somebody ends it');
const POOL = because('it is about pools, which the table of rounds measures');
const WRITES = because('it submits one command, as `annotate` does, which is measured');
const FILES = because('it reads or writes files that a history has nothing to do with');
const RARE = because('it mends a home that is damaged');

/** Those that are not called as their example shows it: at the end or in the middle of a history of so many calls. */
const OWN: Readonly<Record<string, Asked<Arguments>>> = {
  record: MODEL,
  rerun: MODEL,
  quickstart: MODEL,
  import: FILES,
  bundle: FILES,
  histories: page(() => ['histories']),
  grep: page((calls) => ['grep', `q${middle(calls)}`]),
  assign: WRITES,
  call: page((calls) => ['call', NAME, `@c${middle(calls)}`]),
  continue: MODEL,
  retry: MODEL,
  thread: whole(() => ['thread', NAME, '@t0']),
  show: whole(() => ['show', NAME, '@t0']),
  diff: page((calls) => ['diff', NAME, `@c${middle(calls)}`, `@c${middle(calls) + 1}`]),
  compare: whole((calls) => ['compare', NAME, `@c${middle(calls)}`, '@t0']),
  verdict: POOL,
  report: POOL,
  why: page((calls) => ['why', NAME, `q${middle(calls)}`]),
  interventions: whole(() => ['interventions', NAME]),
  experiment: whole(() => ['experiment', 'export', NAME]),
  select: whole(() => ['select', NAME, '@t0 .cb']),
  stages: whole(() => ['stages', NAME]),
  blame: whole(() => ['blame', NAME, '@t0']),
  bisect: whole((calls) => [
    ...['bisect', NAME, '--good', '@c1', '--bad', '@t0'],
    ...['--when', `#q${Math.ceil(calls * 0.7)}`],
  ]),
  analyse: FILES,
  watch: SERVICE,
  log: whole(() => ['log', NAME]),
  export: whole(() => ['export', NAME]),
  up: SERVICE,
  open: SERVICE,
  start: WRITES,
  pool: POOL,
  run: POOL,
  runs: page(() => ['runs']),
  ask: MODEL,
  list: whole(() => ['list', NAME]),
  save: WRITES,
  load: WRITES,
  fork: WRITES,
  rollback: WRITES,
  erase: because('it ends the history that is measured'),
  steer: WRITES,
  break: WRITES,
  breaks: page(() => ['breaks', NAME]),
  unbreak: WRITES,
  held: page(() => ['held']),
  resume: because('it needs a call that is held'),
  abort: because('it needs a call that is held'),
  inject: WRITES,
  edit: WRITES,
  config: page(() => ['config', 'get', NAME]),
  insert: WRITES,
  replace: WRITES,
  move: WRITES,
  remove: WRITES,
  commit: WRITES,
  name: WRITES,
  annotate: page(() => ['annotate', NAME, 'measured', '--actor', 'bench']),
  label: WRITES,
  configure: WRITES,
  replay: whole(() => ['replay', '--verify']),
  verify: whole(() => ['verify']),
  salvage: RARE,
  ack: RARE,
  copy: because('it copies the log, as `backup` does, which is measured'),
  backup: whole(() => ['backup', `backup-${process.pid}-${++backups}.tar`]),
  restore: because('it reads what `backup` writes'),
  checkpoint: whole(() => ['checkpoint']),
  mcp: SERVICE,
  projector: SERVICE,
  relay: SERVICE,
  runner: SERVICE,
  doctor: whole(() => ['doctor']),
  completion: because('it reads no home'),
};

let backups = 0;

/** A command as the catalogue has it. */
export type ListedCommand = {
  readonly name: string;
  readonly group: string;
  readonly example: string;
};

/** What reads is called as its example shows, of the history that is measured. */
const READERS: readonly string[] = ['Look', 'Ask why', 'Check and mend'];

/** How a command is called. @throws an Error if only its writer can know */
export const askOfCommand = ({ name, group, example }: ListedCommand): Asked<Arguments> => {
  const own = OWN[name];
  if (own !== undefined) return own;
  const words = /^stemma ([\w@. -]+)$/.exec(example)?.[1]?.split(' ');
  if (!READERS.includes(group) || words?.[0] !== name)
    throw new Error(`scale/commands.ts does not say how to call ${name}: its example is ${example}`);
  return whole(() => words.map((word) => (word === 'mine' ? NAME : word)));
};
