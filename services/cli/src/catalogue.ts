import type { TopCommand } from './command.ts';

/**
 * Every command by its name, in the order of docs/cli.md: first what most people come for. A new one is a file and a line.
 * Each is loaded when it is called: all of them together take longer to load than most take to run (decision 0157).
 */
const COMMANDS: Readonly<Record<string, () => Promise<TopCommand>>> = {
  quickstart: async () => (await import('./commands/quickstart.ts')).quickstart,
  record: async () => (await import('./commands/record.ts')).record,
  rerun: async () => (await import('./commands/rerun.ts')).rerun,
  import: async () => (await import('./commands/import.ts')).importCommand,
  histories: async () => (await import('./commands/histories.ts')).histories,
  snapshots: async () => (await import('./commands/snapshots.ts')).snapshots,
  filmstrip: async () => (await import('./commands/filmstrip.ts')).filmstrip,
  calls: async () => (await import('./commands/calls.ts')).calls,
  grep: async () => (await import('./commands/grep.ts')).grep,
  assign: async () => (await import('./commands/assign.ts')).assign,
  call: async () => (await import('./commands/call.ts')).call,
  continue: async () => (await import('./commands/continue.ts')).continueCommand,
  retry: async () => (await import('./commands/retry.ts')).retry,
  thread: async () => (await import('./commands/thread.ts')).thread,
  show: async () => (await import('./commands/show.ts')).show,
  diff: async () => (await import('./commands/diff.ts')).diff,
  compare: async () => (await import('./commands/compare.ts')).compare,
  verdict: async () => (await import('./commands/verdict.ts')).verdict,
  report: async () => (await import('./commands/report.ts')).report,
  why: async () => (await import('./commands/why.ts')).why,
  interventions: async () => (await import('./commands/interventions.ts')).interventions,
  experiment: async () => (await import('./commands/experiment.ts')).experiment,
  select: async () => (await import('./commands/select.ts')).select,
  stages: async () => (await import('./commands/stages.ts')).stages,
  blame: async () => (await import('./commands/blame.ts')).blame,
  cache: async () => (await import('./commands/cache.ts')).cache,
  tools: async () => (await import('./commands/tools.ts')).tools,
  bisect: async () => (await import('./commands/bisect.ts')).bisect,
  analyse: async () => (await import('./commands/analyse.ts')).analyse,
  watch: async () => (await import('./commands/watch.ts')).watch,
  log: async () => (await import('./commands/log.ts')).log,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  up: async () => (await import('./commands/up.ts')).up,
  open: async () => (await import('./commands/open.ts')).open,
  start: async () => (await import('./commands/start.ts')).start,
  pool: async () => (await import('./commands/pool.ts')).pool,
  run: async () => (await import('./commands/run.ts')).run,
  runs: async () => (await import('./commands/runs.ts')).runs,
  ask: async () => (await import('./commands/ask.ts')).ask,
  branches: async () => (await import('./commands/branches.ts')).branches,
  list: async () => (await import('./commands/list.ts')).list,
  save: async () => (await import('./commands/save.ts')).save,
  load: async () => (await import('./commands/load.ts')).load,
  fork: async () => (await import('./commands/fork.ts')).fork,
  rollback: async () => (await import('./commands/rollback.ts')).rollback,
  erase: async () => (await import('./commands/erase.ts')).erase,
  steer: async () => (await import('./commands/steer.ts')).steer,
  break: async () => (await import('./commands/break.ts')).breakCommand,
  breaks: async () => (await import('./commands/breaks.ts')).breaks,
  unbreak: async () => (await import('./commands/unbreak.ts')).unbreak,
  held: async () => (await import('./commands/held.ts')).held,
  resume: async () => (await import('./commands/resume.ts')).resume,
  abort: async () => (await import('./commands/abort.ts')).abort,
  inject: async () => (await import('./commands/inject.ts')).inject,
  edit: async () => (await import('./commands/edit.ts')).edit,
  config: async () => (await import('./commands/config.ts')).config,
  insert: async () => (await import('./commands/insert.ts')).insert,
  replace: async () => (await import('./commands/replace.ts')).replace,
  move: async () => (await import('./commands/move.ts')).move,
  remove: async () => (await import('./commands/remove.ts')).remove,
  commit: async () => (await import('./commands/commit.ts')).commit,
  name: async () => (await import('./commands/name.ts')).name,
  annotate: async () => (await import('./commands/annotate.ts')).annotate,
  label: async () => (await import('./commands/label.ts')).label,
  configure: async () => (await import('./commands/configure.ts')).configure,
  replay: async () => (await import('./commands/replay.ts')).replay,
  verify: async () => (await import('./commands/verify.ts')).verify,
  salvage: async () => (await import('./commands/salvage.ts')).salvage,
  ack: async () => (await import('./commands/ack.ts')).ack,
  bundle: async () => (await import('./commands/bundle.ts')).bundle,
  copy: async () => (await import('./commands/copy.ts')).copy,
  backup: async () => (await import('./commands/backup.ts')).backup,
  restore: async () => (await import('./commands/restore.ts')).restore,
  checkpoint: async () => (await import('./commands/checkpoint.ts')).checkpoint,
  mcp: async () => (await import('./commands/mcp.ts')).mcpOf(allCommands),
  projector: async () => (await import('./commands/projector.ts')).projector,
  relay: async () => (await import('./commands/relay.ts')).relay,
  runner: async () => (await import('./commands/runner.ts')).runner,
  doctor: async () => (await import('./commands/doctor.ts')).doctor,
  stats: async () => (await import('./commands/stats.ts')).stats,
  completion: async () => (await import('./commands/completion.ts')).completionOf(allCommands),
};

/** Every command, in that order. */
export const allCommands = (): Promise<readonly TopCommand[]> =>
  Promise.all(Object.values(COMMANDS).map((load) => load()));

/** What stands before the name of a command: options of the program itself. */
const OPTION = /^(?:--json|--home=.*)$/s;

/**
 * The commands that these arguments can mean: the one that they name, none if only the version is asked for, else all, since
 * help lists them and an unknown name is answered with the nearest.
 */
export const commandsFor = async (args: readonly string[]): Promise<readonly TopCommand[]> => {
  let at = 0;
  while (OPTION.test(args[at] ?? '') || args[at] === '--home') at += args[at] === '--home' ? 2 : 1;
  const name = args[at] ?? '';
  if (name === '--version' || name === '-V') return [];
  const load = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return load === undefined ? allCommands() : [await load()];
};
