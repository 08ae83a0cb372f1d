import type { TopCommand } from './command.ts';
import { ack } from './commands/ack.ts';
import { analyse } from './commands/analyse.ts';
import { annotate } from './commands/annotate.ts';
import { assign } from './commands/assign.ts';
import { backup } from './commands/backup.ts';
import { bisect } from './commands/bisect.ts';
import { blame } from './commands/blame.ts';
import { branches } from './commands/branches.ts';
import { bundle } from './commands/bundle.ts';
import { cache } from './commands/cache.ts';
import { call } from './commands/call.ts';
import { calls } from './commands/calls.ts';
import { grep } from './commands/grep.ts';
import { checkpoint } from './commands/checkpoint.ts';
import { compare } from './commands/compare.ts';
import { completionOf } from './commands/completion.ts';
import { config } from './commands/config.ts';
import { continueCommand } from './commands/continue.ts';
import { copy } from './commands/copy.ts';
import { diff } from './commands/diff.ts';
import { doctor } from './commands/doctor.ts';
import { commit } from './commands/commit.ts';
import { configure } from './commands/configure.ts';
import { mcpOf } from './commands/mcp.ts';
import { move } from './commands/move.ts';
import { name } from './commands/name.ts';
import { remove } from './commands/remove.ts';
import { replace } from './commands/replace.ts';
import { experiment } from './commands/experiment.ts';
import { erase } from './commands/erase.ts';
import { exportCommand } from './commands/export.ts';
import { filmstrip } from './commands/filmstrip.ts';
import { fork } from './commands/fork.ts';
import { load } from './commands/load.ts';
import { rollback } from './commands/rollback.ts';
import { histories } from './commands/histories.ts';
import { importCommand } from './commands/import.ts';
import { inject } from './commands/inject.ts';
import { insert } from './commands/insert.ts';
import { interventions } from './commands/interventions.ts';
import { log } from './commands/log.ts';
import { open } from './commands/open.ts';
import { ask } from './commands/ask.ts';
import { pool } from './commands/pool.ts';
import { run } from './commands/run.ts';
import { projector } from './commands/projector.ts';
import { quickstart } from './commands/quickstart.ts';
import { record } from './commands/record.ts';
import { rerun } from './commands/rerun.ts';
import { relay } from './commands/relay.ts';
import { replay } from './commands/replay.ts';
import { report } from './commands/report.ts';
import { restore } from './commands/restore.ts';
import { retry } from './commands/retry.ts';
import { runner } from './commands/runner.ts';
import { runs } from './commands/runs.ts';
import { salvage } from './commands/salvage.ts';
import { label } from './commands/label.ts';
import { list } from './commands/list.ts';
import { save } from './commands/save.ts';
import { select } from './commands/select.ts';
import { show } from './commands/show.ts';
import { snapshots } from './commands/snapshots.ts';
import { stages } from './commands/stages.ts';
import { start } from './commands/start.ts';
import { stats } from './commands/stats.ts';
import { abort } from './commands/abort.ts';
import { breakCommand } from './commands/break.ts';
import { breaks } from './commands/breaks.ts';
import { edit } from './commands/edit.ts';
import { held } from './commands/held.ts';
import { resume } from './commands/resume.ts';
import { steer } from './commands/steer.ts';
import { unbreak } from './commands/unbreak.ts';
import { thread } from './commands/thread.ts';
import { tools } from './commands/tools.ts';
import { up } from './commands/up.ts';
import { verdict } from './commands/verdict.ts';
import { verify } from './commands/verify.ts';
import { watch } from './commands/watch.ts';
import { why } from './commands/why.ts';

/** Every command, in the order of docs/cli.md: first what most people come for. A new one is a file and a line. */
export const COMMANDS: readonly TopCommand[] = [
  quickstart,
  record,
  rerun,
  importCommand,
  histories,
  snapshots,
  filmstrip,
  calls,
  grep,
  assign,
  call,
  continueCommand,
  retry,
  thread,
  show,
  diff,
  compare,
  verdict,
  report,
  why,
  interventions,
  experiment,
  select,
  stages,
  blame,
  cache,
  tools,
  bisect,
  analyse,
  watch,
  log,
  exportCommand,
  up,
  open,
  start,
  pool,
  run,
  runs,
  ask,
  branches,
  list,
  save,
  load,
  fork,
  rollback,
  erase,
  steer,
  breakCommand,
  breaks,
  unbreak,
  held,
  resume,
  abort,
  inject,
  edit,
  config,
  insert,
  replace,
  move,
  remove,
  commit,
  name,
  annotate,
  label,
  configure,
  replay,
  verify,
  salvage,
  ack,
  bundle,
  copy,
  backup,
  restore,
  checkpoint,
  mcpOf(() => COMMANDS),
  projector,
  relay,
  runner,
  doctor,
  stats,
  completionOf(() => COMMANDS),
];
