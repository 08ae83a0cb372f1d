import { platform } from '#call-platform';
import type { RedactorOptions } from '@stemma/redaction';
import { openMemorySpool } from '../spool/memory-spool.ts';
import type { Spool, WaitingExchange } from '../spool/spool.ts';
import type { CallRecorder } from './call-recorder.ts';
import { exchangeHead, exchangeJson } from './exchange-json.ts';
import { openSender, textOf } from './open-sender.ts';
import type { CallRecorderOptions, CallScopeOptions, InnerOptions, SendTimes } from './options.ts';
import { openTarget } from './target.ts';
import { sayUnknownKeys } from './unknown-keys.ts';
import { openCallWarnings } from './warnings.ts';

const MIB = 1024 * 1024;
const LIMIT = 256 * MIB;
/** The most bytes that wait in memory where the disk takes none. */
const MEMORY = 32 * MIB;
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
  const counts = { recorded: 0, dropped: 0, refused: 0 };
  let lastError: string | null = null;
  let isClosed = false;
  const fault = (kind: string, reason: string, sentence: string): void => {
    lastError = reason;
    warnings.say(kind, sentence);
  };
  const times = { ...TIMES, ...options.times };
  const target = openTarget(options, times);
  const memory = openMemorySpool(Math.min(limit, MEMORY));
  const inMemory = (error: unknown): void =>
    fault(
      'memory',
      textOf(error),
      `calls cannot be kept on disk (${textOf(error)}): they wait in memory, and are lost if the process ends`,
    );
  const openSpool = (): Spool => {
    try {
      const folder = options.directory ?? setOr(platform.env('STEMMA_SPOOL'), platform.spoolFolder());
      if (folder === undefined) return memory;
      const directory = platform.folderOf(folder, target.name);
      const damaged = (file: string): void =>
        fault('damaged', `${file} is damaged`, `a call that waited is damaged, and is not recorded: ${file}`);
      return platform.openSpool({ directory, limit, damaged });
    } catch (error) {
      inMemory(error);
      return memory;
    }
  };
  const spool = openSpool();
  const sender = openSender(target, times, platform.later, {
    recorded: (warning) => {
      counts.recorded++;
      lastError = null;
      warnings.clear('away');
      if (warning !== null) warnings.say(warning, warning);
    },
    refused: (reason) => {
      counts.refused++;
      fault('refused', reason, `a call cannot be recorded: ${reason}`);
    },
    away: (reason) =>
      fault('away', reason, `${target.name} takes no calls now (${reason}): they wait, and are sent later`),
    damaged: (reason) => fault('damaged', reason, `a call that waited cannot be sent: ${reason}`),
  });

  let redact: ((text: string) => string) | undefined;
  let isOff = false;
  let ready =
    options.redact &&
    openRules(options.redact).then(
      (rules) => {
        redact = rules;
        ready = undefined;
      },
      (error: unknown) => {
        isOff = true;
        ready = undefined;
        fault('rules', textOf(error), `no call is recorded: ${textOf(error)}`);
      },
    );

  const drop = (): void => {
    counts.dropped++;
    fault('room', 'there is no room', `calls are not recorded: ${limit} bytes of calls wait already`);
  };
  const kept = (id: string, json: string): WaitingExchange | undefined => {
    try {
      return spool.keep(id, json);
    } catch (error) {
      inMemory(error);
      return memory.keep(id, json);
    }
  };
  const keep = (id: string, json: string): void => {
    const waiting = kept(id, json);
    if (waiting === undefined) drop();
    else sender.add(waiting);
  };
  const takeOver = (): void => {
    try {
      for (const waiting of spool.takeOver()) sender.add(waiting);
    } catch (error) {
      lastError = textOf(error);
    }
  };
  const look = (): (() => void) =>
    platform.later(LOOK, () => {
      takeOver();
      if (!isClosed) stopLooking = look();
    });
  takeOver();
  let stopLooking = look();

  const leave = (): void => {
    try {
      spool.close();
    } catch {
      // What is in it is sent by the next process all the same.
    }
  };
  const forgetExit = platform.onExit(leave);
  let hasGivenUp = false;
  const forgetIdle = platform.onIdle(() => {
    if (hasGivenUp || exitTimeout === 0 || sender.waiting() === 0 || sender.isAway()) return;
    hasGivenUp = true;
    void sender.drained(exitTimeout).then((done) => void (hasGivenUp = !done));
  });

  return {
    begin: (start, asked, sentAt = Date.now()) => {
      const began = performance.now();
      const id = newCallId();
      const parts = { id, recorder, scope: scopeOf(asked), start, sentAt };
      let made: string | undefined;
      const head = (): string => (made ??= exchangeHead(parts, redact));
      const lost = (error: unknown): void => {
        counts.dropped++;
        fault('fault', textOf(error), `a call was not recorded: ${textOf(error)}`);
      };
      const safely = (act: () => void): void => {
        try {
          if (isOff) counts.dropped++;
          else if (!isClosed) act();
        } catch (error) {
          lost(error);
        }
      };
      let isOver = false;
      /** The JSON of the call that goes on; undefined if it has none, and will have none when it ends. */
      const begunJson = (): string | undefined => {
        try {
          return exchangeJson(head(), null, 0, redact);
        } catch (error) {
          isOver = true;
          lost(error);
          return undefined;
        }
      };
      const noteStart = (): void => {
        if (isOver || isOff || isClosed) return;
        const json = begunJson();
        if (json === undefined) return;
        try {
          spool.begin(id, json);
        } catch (error) {
          inMemory(error);
        }
      };
      // The request goes out first: it is noted while the provider works on it.
      platform.soon(() => {
        if (ready === undefined) noteStart();
        else void ready.then(noteStart);
      });
      return {
        id,
        end: (ending) => {
          if (isOver) return undefined;
          isOver = true;
          const elapsed = performance.now() - began;
          const keepIt = (): void => safely(() => keep(id, exchangeJson(head(), ending, elapsed, redact)));
          if (ready !== undefined) return ready.then(keepIt);
          keepIt();
          return undefined;
        },
      };
    },
    flush: async ({ timeout = FLUSH } = {}) => {
      await ready;
      return sender.drained(timeout);
    },
    close: async ({ timeout = FLUSH } = {}) => {
      await ready;
      const done = await sender.drained(timeout);
      if (isClosed) return done;
      isClosed = true;
      stopLooking();
      sender.close();
      forgetExit();
      forgetIdle();
      leave();
      await target.close();
      return done;
    },
    status: () => ({
      ...counts,
      waiting: sender.waiting(),
      lastError,
      directory: spool.directory,
    }),
  };
};

const openRules = async (rules: RedactorOptions): Promise<(text: string) => string> => {
  const { openTextRules } = await import('#redacting-backend');
  return openTextRules(rules);
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
