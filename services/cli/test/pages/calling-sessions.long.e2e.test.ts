import { sendAnswer, startModels, type ModelCall, type ScriptedAnswer } from '@stemma/test-kit';
import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { temporaryFolder } from '../run-stemma.ts';
import { asShown, mask } from '../tutorial-page.ts';
import { sessionsOf, withSessionOutputs, type ShownSession } from './sessions.ts';

const ROOT = join(import.meta.dirname, '../../../..');

/** Calls a model until it calls no tool; knows nothing of Stemma. */
const AGENT = `
const piers = { north: 'no ship', south: 'one ship' };
const messages = [{ role: 'user', content: 'Is there a ship in the harbour?' }];
const tools = [{ type: 'function', function: { name: NAME, parameters: { type: 'object' } } }];
for (;;) {
  const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-x', messages, tools }),
  });
  const { message } = (await response.json()).choices[0];
  messages.push(message);
  if (message.tool_calls === undefined) {
    console.log(message.content);
    break;
  }
  for (const { id, function: asked } of message.tool_calls)
    messages.push({ role: 'tool', tool_call_id: id, content: piers[JSON.parse(asked.arguments).pier] });
}
`;

/** Looks at the north pier, then at the south pier, and stops at once when it is told so. */
const answerOf = (tool: string, { asked }: ModelCall, n: number): ScriptedAnswer => {
  const said = (asked?.['messages'] ?? []) as readonly {
    readonly role: string;
    readonly content: string | null;
  }[];
  if (said.some(({ content }) => content?.startsWith('STOP') === true))
    return { text: 'I stop.', tokens: [99, 4] };
  const known = said.filter(({ role }) => role === 'tool').length;
  const other = asked?.['temperature'] === 1 && n % 3 === 2 ? 'east' : undefined;
  const pier = other ?? ['north', 'south'][known];
  return pier === undefined
    ? { text: 'One ship lies at the south pier.', tokens: [96, 12] }
    : { tools: [{ id: `t${known}`, name: tool, input: { pier } }], tokens: [61 + 19 * known, 12] };
};

type Printed = { readonly code: number | null; readonly text: string };
type Place = {
  readonly here: string;
  /** Runs a line in a shell; what it prints on stdout and stderr, in the order in which it came. */
  readonly run: (line: string, env?: Readonly<Record<string, string>>) => Promise<Printed>;
};

type Page = {
  /** Name of the tool that the model calls. */
  readonly tool: string;
  /** What a reader has done before. */
  readonly before: readonly string[];
  /** Files that the page shows by `cat FILE`, and that the reader wrote. */
  readonly written?: readonly string[];
  /** Sessions that end with an error. */
  readonly fails?: readonly string[];
  /** Sessions in an environment that does not say where the API is. */
  readonly withoutUpstream?: readonly string[];
  /** What a reader does behind a session that the page tells in words. */
  readonly then?: Readonly<Record<string, (place: Place, printed: string) => Promise<unknown>>>;
  /** Asked again until it prints something else than this. */
  readonly waits?: Readonly<Record<string, RegExp>>;
  /** The session with which a command in the background ends. */
  readonly ends?: string;
};

const recorded = (name: string): readonly string[] => [
  `stemma start --name ${name}`,
  `stemma record --history ${name} -- node agent.mjs`,
];

const PAGES: Readonly<Record<string, Page>> = {
  'docs/continue.md': {
    tool: 'look',
    before: recorded('harbour'),
    written: ['run-tool'],
    fails: ['stemma continue harbour', 'stemma continue harbour@c1 --calls 5 --tools none --run by-hand'],
    withoutUpstream: ['stemma continue harbour'],
  },
  'docs/recording.md': {
    tool: 'look_up',
    before: [],
    waits: { 'stemma held': /no calls wait/ },
    ends: 'stemma resume talk',
  },
  'docs/checkpoints.md': {
    tool: 'look',
    before: ['stemma import parcel.json --history mine'],
    then: {
      'stemma checkpoint --out monday.checkpoint': async ({ here, run }, printed) => {
        writeFileSync(join(here, 'monday.pub'), /public key: (\S+)/.exec(printed)?.[1] ?? '');
        await run('stemma import parcel.json --history other');
      },
    },
  },
};

/** What differs from run to run, as calls that end together are one frame, and how wide a column is by that. */
const masked = (text: string): string =>
  mask(text)
    .replace(/\bh[a-z2-7]{20}\b/g, '<history>')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
    .replace(/@s\d+/g, '@s<n>')
    .replace(/\bharbour:\d+/g, 'harbour:<n>')
    .replace(/\bcall-[0-9a-f<]\S*/g, '<attempt>')
    .replace(/\b\d+ (?:ms|s)\b/g, '<duration>')
    .replace(/\b[0-9a-f]{64}\b|\b[0-9a-f]{4}…/g, '<hash>')
    .replace(/\b(?:[0-9a-f]{8}|[0-9a-f]{16})\b/g, '<hex>')
    .replace(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ/g, '<time>')
    .replace(/^[A-Za-z0-9+/]{43}=$/gm, '<root>')
    .replace(/ {2,}/g, '  ');

let folder: ReturnType<typeof temporaryFolder> | undefined;
let models: Awaited<ReturnType<typeof startModels>> | undefined;
afterEach(async () => {
  await models?.close();
  folder?.[Symbol.dispose]();
});

const newPlace = async (tool: string): Promise<Place> => {
  folder = temporaryFolder();
  let n = 0;
  models = await startModels((call, _n, outgoing) => {
    if (call.asked?.['temperature'] === 1) n += 1;
    sendAnswer(call, outgoing, answerOf(tool, call, n));
  });
  const { url } = models;
  const here = join(folder.path, 'here');
  const bin = join(folder.path, 'bin');
  for (const one of [here, bin]) mkdirSync(one);
  writeFileSync(join(bin, 'stemma'), `#!/bin/sh\nexec '${ROOT}/stemma' "$@"\n`, { mode: 0o755 });
  // In which language an agent is written does not matter to what is shown.
  writeFileSync(join(bin, 'python'), `#!/bin/sh\nexec node agent.mjs\n`, { mode: 0o755 });
  writeFileSync(join(here, 'agent.mjs'), AGENT.replace('NAME', JSON.stringify(tool)));
  copyFileSync(join(ROOT, 'docs/tutorial/parcel.json'), join(here, 'parcel.json'));
  const env = {
    ...{ PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: folder.path, TMPDIR: folder.path },
    ...{ STEMMA_ACTOR: 'ann', STEMMA_HOME: join(here, '.stemma'), STEMMA_UPSTREAM_OPENAI: `${url}/v1` },
  };
  return {
    here,
    run: (line, more = {}) =>
      new Promise((resolve) => {
        const child = spawn('sh', ['-c', `exec 2>&1\n${line}`], {
          cwd: here,
          env: { ...env, ...more },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        let text = '';
        child.stdout.setEncoding('utf8').on('data', (piece: string) => (text += piece));
        child.on('close', (code) => resolve({ code, text }));
      }),
  };
};

/** Runs a session until it shows what is waited for. */
const runUntil = async (run: () => Promise<Printed>, waitsFor: RegExp | undefined): Promise<Printed> => {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const printed = await run();
    if (waitsFor === undefined || !waitsFor.test(printed.text) || Date.now() > deadline) return printed;
  }
};

/** What each session prints that the page does not show, by its line. */
const differing = async (page: string, place: Place, told: Page): Promise<Map<number, string>> => {
  const found = new Map<number, string>();
  let behind: Promise<Printed> | undefined;
  const begins = (command: string) => (each: string) => command.startsWith(each);
  const outputOf = async ({ command }: ShownSession): Promise<string> => {
    const line = command.replace(/ {2,}#.*$/, '');
    if (line.endsWith(' &')) {
      behind = place.run(line.slice(0, -2));
      return '';
    }
    const env: Readonly<Record<string, string>> = told.withoutUpstream?.includes(line)
      ? { STEMMA_UPSTREAM_OPENAI: '' }
      : {};
    const waits = Object.entries(told.waits ?? {}).find(([each]) => begins(line)(each))?.[1];
    const { code, text } = await runUntil(() => place.run(line, env), waits);
    expect(code === 0, `${line}\n${text}`).toBe(!(told.fails ?? []).includes(line));
    await Object.entries(told.then ?? {}).find(([each]) => begins(line)(each))?.[1](place, text);
    if (told.ends === undefined || !begins(line)(told.ends) || behind === undefined) return text;
    return text + (await behind).text;
  };
  for (const session of sessionsOf(page)) {
    const printed = await outputOf(session);
    const isShown = asShown(masked(printed), masked(session.output)) === mask(masked(session.output));
    if (session.output !== '' && !isShown) found.set(session.line, printed);
  }
  return found;
};

test.each(Object.entries(PAGES))(
  'every session of %s, with a program that calls a model, prints what the page shows (STEMMA_WRITE_PAGES=1 writes it)',
  async (name, told) => {
    const place = await newPlace(told.tool);
    const file = join(ROOT, name);
    const page = readFileSync(file, 'utf8');
    for (const { command, output } of sessionsOf(page)) {
      const [, shown] = /^cat (\S+)$/.exec(command) ?? [];
      if (shown !== undefined && told.written?.includes(shown))
        writeFileSync(join(place.here, shown), output, { mode: 0o755 });
    }
    for (const line of told.before) expect(await place.run(line), line).toMatchObject({ code: 0 });
    const printed = await differing(page, place, told);
    if (process.env['STEMMA_WRITE_PAGES'] === '1') writeFileSync(file, withSessionOutputs(page, printed));
    else expect(Object.fromEntries(printed)).toEqual({});
  },
);
