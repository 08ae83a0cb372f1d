import { init, runBaseTests, setupEnvironment } from 'vitest/worker';
import { note, progressOf, readJournal } from './journal.ts';
import { readJob, type Job } from './job.ts';
import { installSwitches } from './switches.ts';
import { setTestRun } from './test-runs.ts';
import { startWatchdog } from './watchdog.ts';

type RunTests = Parameters<typeof init>[0]['runTests'];
type State = Parameters<RunTests>[0];
type Traces = Parameters<RunTests>[1];

/*
 * A process of vitest that runs each of its test files many times: once as it is, which shows the mutants that each test
 * passes, then once for each of these, with only the tests that pass it. Modules are loaded once for all of that.
 */
const switches = installSwitches();
const watchdog = startWatchdog();

type Outcome = {
  readonly failed: readonly string[];
  readonly milliseconds: number;
  /** Mutants by the test that passed them, `''`: outside of every test. */
  readonly passed: ReadonlyMap<string, ReadonlyMap<number, number>>;
};

const root = process.cwd();
const send = process.send?.bind(process);
if (send === undefined) throw new Error('this is a process of vitest');

const runFile = async (
  state: State,
  traces: Traces,
  file: State['ctx']['files'][number],
  only: ReadonlySet<string> | null,
): Promise<Outcome> => {
  const passed = new Map<string, ReadonlyMap<number, number>>();
  const outside = new Map<number, number>();
  const failed: string[] = [];
  const keepOutside = (): void => {
    for (const [mutant, times] of switches.takePassed())
      outside.set(mutant, (outside.get(mutant) ?? 0) + times);
  };
  setTestRun({
    only,
    stops: only !== null,
    failed,
    beforeTest: keepOutside,
    afterTest: (name) => passed.set(name, switches.takePassed()),
  });
  const rejected = (error: unknown): void => void failed.push(`unhandled: ${String(error)}`.slice(0, 200));
  process.on('unhandledRejection', rejected);
  process.on('uncaughtException', rejected);
  const started = performance.now();
  try {
    const ctx = { ...state.ctx, files: [file] };
    await runBaseTests('run', { ...state, ctx }, traces);
  } finally {
    process.off('unhandledRejection', rejected);
    process.off('uncaughtException', rejected);
  }
  keepOutside();
  passed.set('', outside);
  return { failed, passed, milliseconds: performance.now() - started };
};

/** True once a mutant was switched on: what modules keep may be its doing. */
let isUsed = false;

const LONGEST_BASELINE = 600_000;

const runTests = async (state: State, traces: Traces): Promise<void> => {
  const job = readJob();
  for (const file of state.ctx.files) await tryFile(job, state, traces, file);
  watchdog.allow(60_000);
};

const tryFile = async (
  job: Job,
  state: State,
  traces: Traces,
  file: State['ctx']['files'][number],
): Promise<void> => {
  const name = file.filepath.slice(root.length + 1);
  const runAll = () => runFile(state, traces, file, null);
  const progress = progressOf(readJournal(job.journal));
  const { journal, fresh } = job;
  if (fresh !== null) {
    if (!progress.noticed.has(fresh)) await tryFresh(journal, name, fresh, progress.broken.get(name), runAll);
    return;
  }
  const wanted = job.mutants.filter(
    ({ number, only }) => !progress.noticed.has(number) && (only === null || name.startsWith(only)),
  );
  if (progress.done.has(name) || wanted.length === 0) return;
  note(journal, { what: 'baseline', file: name });
  watchdog.allow(LONGEST_BASELINE);
  switches.activate(0, Infinity);
  const baseline = await runAll();
  const broken = new Set(baseline.failed);
  // Whether these fail by themselves is for a new process to say.
  if (broken.size > 0 && isUsed) process.kill(process.pid, 'SIGKILL');
  isUsed = true;
  const covering = testsByMutant(baseline, broken);
  note(journal, { what: 'covered', file: name, mutants: [...covering.keys()], broken: [...broken] });
  for (const { number, isStatic } of wanted) {
    const tests = covering.get(number);
    if (tests === undefined || isStatic || progress.tried.has(`${name} ${number}`)) continue;
    note(journal, { what: 'try', file: name, mutant: number });
    watchdog.allow(15_000 + baseline.milliseconds * 4);
    switches.activate(number, 10_000 + tests.times * 100);
    const { failed } = await runFile(state, traces, file, tests.names);
    switches.activate(0, 0);
    switches.takePassed();
    const [by] = failed.filter((each) => !broken.has(each));
    if (by === undefined) {
      note(journal, { what: 'passed', file: name, mutant: number });
      continue;
    }
    // A failure counts if the same test passes without the mutant.
    watchdog.allow(LONGEST_BASELINE);
    const again = await runFile(state, traces, file, tests.names);
    if (again.failed.every((each) => broken.has(each)) || progress.unclear.has(`${name} ${number}`)) {
      note(journal, { what: 'noticed', file: name, mutant: number, by: `${name} > ${by}` });
      if (!again.failed.every((each) => broken.has(each))) process.kill(process.pid, 'SIGKILL');
      continue;
    }
    note(journal, { what: 'unclear', file: name, mutant: number });
    process.kill(process.pid, 'SIGKILL');
  }
  note(journal, { what: 'done', file: name });
};

/** A mutant of what is computed while modules are loaded has a process of its own. */
const tryFresh = async (
  journal: string,
  name: string,
  mutant: number,
  /** Tests that fail without it too. */
  broken: ReadonlySet<string> = new Set(),
  run: () => Promise<Outcome>,
): Promise<void> => {
  note(journal, { what: 'baseline', file: name });
  note(journal, { what: 'try', file: name, mutant });
  watchdog.allow(120_000);
  switches.activate(mutant, Infinity);
  const by = (await run()).failed.find((each) => !broken.has(each));
  note(
    journal,
    by === undefined
      ? { what: 'passed', file: name, mutant }
      : { what: 'noticed', file: name, mutant, by: `${name} > ${by}` },
  );
};

/** The tests that pass each mutant; all of the file for what is passed while it is loaded or in a hook. */
const testsByMutant = (
  { passed }: Outcome,
  broken: ReadonlySet<string>,
): ReadonlyMap<number, { readonly names: Set<string>; times: number }> => {
  const found = new Map<number, { names: Set<string>; times: number }>();
  const all = [...passed.keys()].filter((name) => name !== '' && !broken.has(name));
  for (const [test, mutants] of passed) {
    if (broken.has(test)) continue;
    for (const [mutant, times] of mutants) {
      const known = found.get(mutant) ?? { names: new Set<string>(), times: 0 };
      for (const name of test === '' ? all : [test]) known.names.add(name);
      known.times += times;
      found.set(mutant, known);
    }
  }
  return found;
};

init({
  post: (message) => send(message),
  on: (listener) => process.on('message', listener),
  off: (listener) => process.off('message', listener),
  runTests,
  collectTests: (state, traces) => runBaseTests('collect', state, traces),
  setup: setupEnvironment,
});
