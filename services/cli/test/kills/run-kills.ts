import { isStemmaError } from '@stemma/errors';
import { historyId } from '@stemma/history';
import { openHome, type Home } from '@stemma/home';
import { seeded } from '@stemma/log/contract';
import {
  checkOperations,
  countAnomalies,
  type Anomalies,
  type Operation,
  programFile,
} from '@stemma/test-kit';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientOf } from '../apart/gateways.ts';
import { openProcesses, until, type Process, type Processes } from '../apart/processes.ts';

const HISTORIES = ['left', 'right'] as const;
const CHILDREN = join(import.meta.dirname, '../children');

export type KillsReport = {
  readonly kills: Readonly<Record<string, number>>;
  readonly acknowledged: number;
  /** Seen in the log at the end. */
  readonly frames: number;
  readonly anomalies: Readonly<Record<keyof Anomalies, number>>;
  readonly differences: number;
  readonly problems: readonly unknown[];
  /** What processes said that were not killed but ended by themselves. */
  readonly ended: readonly string[];
};

type Run = {
  readonly directory: string;
  readonly processes: Processes;
  readonly operations: Operation[];
  readonly random: () => number;
  /** False when enough are killed. */
  readonly goesOn: () => boolean;
  /** Kills a process, which counts if it still lived. */
  readonly kill: (role: string, process: Process) => Promise<void>;
  readonly ended: string[];
};

/** Kills writers, projectors and gateways of one home at any moment, then compares the home with what was acknowledged. */
export const runKills = async (
  directory: string,
  { count, seed = 1, say }: { count: number; seed?: number; say?: (line: string) => void },
): Promise<KillsReport> => {
  await using processes = openProcesses();
  const kills: Record<string, number> = {};
  let killed = 0;
  const kill = async (role: string, process: Process): Promise<void> => {
    if (process.ended()) return;
    await process.end('SIGKILL');
    kills[role] = (kills[role] ?? 0) + 1;
    if (++killed % 50 === 0) say?.(`… ${killed} of ${count}`);
  };
  const operations: Operation[] = [];
  const run: Run = {
    directory,
    processes,
    operations,
    random: seeded(seed),
    goesOn: () => killed < count,
    kill,
    ended: [],
  };
  await begin(run);
  await Promise.all([
    killWriters(run, 'writer-a'),
    killWriters(run, 'writer-b'),
    killProjectors(run),
    killCommands(run),
    killGateways(run),
  ]);
  const home = await openHome({ directory });
  try {
    for (const history of HISTORIES)
      operations.push({
        kind: 'poll',
        process: 'the end',
        history,
        from: 0,
        values: await valuesOf(home, history),
      });
    const { problems } = await home.operations.verify({ rows: 'all' });
    const { differences } = await home.operations.replay({ verify: true });
    return {
      kills,
      acknowledged: operations.filter((each) => each.kind === 'write' && each.outcome === 'ok').length,
      frames: operations.reduce((sum, each) => sum + (each.kind === 'poll' ? each.values.length : 0), 0),
      anomalies: countAnomalies(checkOperations(operations)),
      differences,
      problems,
      ended: run.ended,
    };
  } finally {
    await home.close();
  }
};

const begin = async ({ directory, operations }: Run): Promise<void> => {
  const home = await openHome({ directory, create: true });
  for (const name of HISTORIES) {
    const { seq } = await home.submit({
      id: `start-${name}`,
      history: historyId(name, ''),
      branchId: 0,
      by: { recorder: 'test' },
      steps: [{ op: 'start', name }],
    });
    note(operations, 'begin', name, `start-${name}`, seq);
  }
  await home.close();
};

const note = (
  operations: Operation[],
  process: string,
  history: string,
  value: string,
  seq?: number,
): void => {
  const write = { kind: 'write', process, history, value } as const;
  operations.push(seq === undefined ? { ...write, outcome: 'unknown' } : { ...write, outcome: 'ok', seq });
};

/** At any moment: of its start, or of its work, once it has said that some of it is done. */
const killAnyTime = async (run: Run, role: string, process: Process, done: string): Promise<void> => {
  if (run.random() < 0.8)
    await until(`a ${role} to work`, () => process.said().includes(done) || process.ended());
  await sleep(run.random() * 300);
  if (process.ended()) run.ended.push(`${process.name}: ${process.said().slice(-500)}`);
  await run.kill(role, process);
};

const killWriters = async (run: Run, name: string): Promise<void> => {
  for (let i = 0; run.goesOn(); i++) {
    const child = run.processes.node(
      name,
      [join(CHILDREN, 'try-until-killed.ts'), run.directory, `${name}-${i}`, ...HISTORIES],
      {},
    );
    let said = '';
    child.listen((data) => (said += data));
    await killAnyTime(run, 'writer', child, 'wrote');
    for (const line of said.split('\n').slice(0, -1)) {
      const [word, history = '', id = '', seq] = line.split(' ');
      if (word === 'tries') note(run.operations, name, history, id);
      if (word === 'wrote') note(run.operations, name, history, id, Number(seq));
    }
  }
};

const killProjectors = async (run: Run): Promise<void> => {
  while (run.goesOn())
    await killAnyTime(
      run,
      'projector',
      run.processes.node('projector', [join(CHILDREN, 'project-until-killed.ts'), run.directory], {}),
      'projected',
    );
};

/** Commands of the command line: some are killed, some come to their end. */
const killCommands = async (run: Run): Promise<void> => {
  // As long as the last one took that came to its end; the first is not killed.
  let usual = Infinity;
  for (let i = 0; run.goesOn(); i++) {
    const id = `command-${i}`;
    const history = HISTORIES[i % HISTORIES.length] as string;
    note(run.operations, 'command', history, id);
    const child = run.processes.node(
      'command',
      [programFile('stemma'), 'inject', history, id, '--command', id, '--json'],
      { STEMMA_HOME: run.directory, STEMMA_ACTOR: 'tester' },
    );
    let said = '';
    child.listen((data) => (said += data));
    const began = performance.now();
    const most = run.random() * 1.2 * usual;
    await until('a command to end or its time', () => child.ended() || performance.now() - began > most);
    await run.kill('command', child);
    if (child.code() === 0) usual = performance.now() - began;
    const seq = /"seq":(\d+),.*\}\s*$/.exec(said)?.[1];
    if (seq !== undefined) note(run.operations, 'command', history, id, Number(seq));
  }
};

/** A client sends each command again, with the same id, to gateways that are killed, until one acknowledges it. */
const killGateways = async (run: Run): Promise<void> => {
  for (let sent = 0; run.goesOn();) {
    const child = run.processes.node('gateway', [programFile('gateway')], {
      STEMMA_HOME: run.directory,
      STEMMA_PORT: '0',
    });
    const url = (): string => /Stemma is at (http:\S+?)\/?\s/.exec(child.said())?.[1] ?? '';
    await until('a gateway to answer', () => url() !== '' || child.ended());
    if (child.ended()) run.ended.push(`gateway: ${child.said().slice(-500)}`);
    const kill = killAnyTime(run, 'gateway', child, 'Stemma is at');
    while (!child.ended()) {
      const id = `client-${sent}`;
      const history = HISTORIES[sent % HISTORIES.length] as string;
      const body = { id, actor: 'tester', steps: [{ op: 'inject' as const, text: id, id }] };
      note(run.operations, 'client', history, id);
      try {
        const { position } = await clientOf(url, 15_000).command({ history, body });
        note(run.operations, 'client', history, id, position.seq);
        sent++;
      } catch (error) {
        if (!isStemmaError(error)) throw error;
        await sleep(5);
      }
    }
    await kill;
  }
};

/** The command of each frame of a history, at the place of its seq. */
const valuesOf = async (home: Home, name: string): Promise<readonly string[]> => {
  const values: string[] = [];
  const history = historyId(name, '');
  for (;;) {
    const events = await home.read.events(history, { from: values.length, limit: 1000 });
    for (const { seq, command } of events) values[seq] = command;
    if (events.length === 0) return values;
  }
};
