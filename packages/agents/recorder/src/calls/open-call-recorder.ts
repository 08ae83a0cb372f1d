import { platform } from '#call-platform';
import { BegunCall } from './begun-call.ts';
import type { CallRecorder } from './call-recorder.ts';
import { CallReports } from './call-reports.ts';
import { CallRules } from './call-rules.ts';
import { KeptCalls } from './kept-calls.ts';
import { openSender } from './open-sender.ts';
import type { CallRecorderOptions, CallScopeOptions, InnerOptions, SendTimes } from './options.ts';
import { openTarget } from './target.ts';
import { sayUnknownKeys } from './unknown-keys.ts';
import { openCallWarnings } from './warnings.ts';

const LIMIT = 256 * 1024 * 1024;
const TIMES: SendTimes = { first: 250, longest: 30_000, answer: 30_000 };
const FLUSH = 5_000;
const EXIT = 2_000;
/** How often a recorder looks for what processes left that ended, in milliseconds. */
const LOOK = 60_000;

/** Opens a recorder of calls. It throws nothing: what is wrong is said, and calls go on. */
export const openCallRecorder = (options: CallRecorderOptions & InnerOptions = {}): CallRecorder => {
  const { limit = LIMIT, exitTimeout = EXIT, recorder = 'recorder' } = options;
  const warnings = openCallWarnings(options.warn ?? platform.say);
  sayUnknownKeys('openCallRecorder', 'options', options, options.warn);
  const times = { ...TIMES, ...options.times };
  const target = openTarget(options, times);
  const reports = new CallReports(warnings, target.name, limit);
  const folder = (): string | undefined => {
    const all = options.directory ?? setOr(platform.env('STEMMA_SPOOL'), platform.spoolFolder());
    return all === undefined ? undefined : platform.folderOf(all, target.name);
  };
  const calls = new KeptCalls(folder, limit, reports);
  const sender = openSender(target, times, platform.later, reports);
  const rules = new CallRules(options.redact, reports);
  let isClosed = false;

  const keep = (id: string, json: string): void => {
    const waiting = calls.keep(id, json);
    if (waiting === undefined) reports.noRoom();
    else sender.add(waiting);
  };
  const takeOver = (): void => {
    for (const waiting of calls.takeOver()) sender.add(waiting);
  };
  const look = (): (() => void) =>
    platform.later(LOOK, () => {
      takeOver();
      if (!isClosed) stopLooking = look();
    });
  takeOver();
  let stopLooking = look();

  const forgetExit = platform.onExit(() => calls.close());
  let hasGivenUp = false;
  const forgetIdle = platform.onIdle(() => {
    if (hasGivenUp || exitTimeout === 0 || sender.waiting() === 0 || sender.isAway()) return;
    hasGivenUp = true;
    void sender.drained(exitTimeout).then((done) => void (hasGivenUp = !done));
  });
  const parts = { reports, rules, calls, keep, isClosed: () => isClosed };

  return {
    begin: (start, asked, sentAt = Date.now()) =>
      new BegunCall({ id: newCallId(), recorder, scope: scopeOf(asked), start, sentAt }, parts),
    flush: async ({ timeout = FLUSH } = {}) => {
      await rules.ready;
      return sender.drained(timeout);
    },
    close: async ({ timeout = FLUSH } = {}) => {
      await rules.ready;
      const done = await sender.drained(timeout);
      if (isClosed) return done;
      isClosed = true;
      stopLooking();
      sender.close();
      forgetExit();
      forgetIdle();
      calls.close();
      await target.close();
      return done;
    },
    status: () => {
      const { lastError, ...counts } = reports.status();
      return { ...counts, waiting: sender.waiting(), lastError, directory: calls.directory };
    },
  };
};

const setOr = <T>(text: string | undefined, otherwise: T): string | T =>
  text === undefined || text === '' ? otherwise : text;

/** The scope that is given, else that of the environment. */
const scopeOf = ({ history, run }: CallScopeOptions): CallScopeOptions => {
  if (history !== undefined) return { history };
  if (run !== undefined) return { run };
  const named = setOr(platform.env('STEMMA_HISTORY'), undefined);
  if (named !== undefined) return { history: named };
  const ofRun = setOr(platform.env('STEMMA_RUN'), undefined);
  return ofRun === undefined ? {} : { run: ofRun };
};

/** Pages that came without encryption have no UUIDs. */
const newCallId = (): string => {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `call-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
};
