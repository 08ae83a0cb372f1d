import { isJsonObject, type WideJsonObject } from '@stemma/canonical';
import { branchRefOf } from '@stemma/history-store';
import { openHome } from '@stemma/home';
import { comparableMessage } from '@stemma/model-apis';
import { mkdirSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { holdHome, releaseHome, stemmaJson, temporaryFolder } from '../run-stemma.ts';
import { callsOf, type Message, transcripts } from '../transcripts.ts';

const folder = temporaryFolder();
afterAll(() => folder[Symbol.dispose]());

type Imported = Readonly<Record<string, unknown>> & {
  readonly history: string;
  readonly dropped?: Readonly<Record<string, number>>;
  readonly warnings?: readonly unknown[];
};
type Report = { readonly imported: readonly Imported[]; readonly refused: readonly unknown[] };
type Written = { readonly lost?: Readonly<Record<string, number>> };

/** What a history says: what each call was shown and answered, and what stands behind the last answer. */
type Thread = {
  readonly calls: readonly { readonly shown: readonly string[]; readonly answer: string | undefined }[];
  readonly behind: readonly string[];
};

const said = (messages: readonly unknown[]): readonly string[] =>
  messages.map((message) => comparableMessage(message as WideJsonObject));

const wanted = (messages: readonly Message[]): Thread => {
  const all = said(messages);
  const calls = callsOf(messages).map(({ length }) => ({ shown: all.slice(0, length), answer: all[length] }));
  return { calls, behind: all.slice((calls.at(-1)?.shown.length ?? -1) + 1) };
};

const importInto = async (home: string, files: readonly string[]): Promise<Report> =>
  (await stemmaJson(['import', ...files, '--home', home])) as Report;

/** The threads of histories: an answer is what is recorded of the call, else the message that follows. */
const threadsIn = async (directory: string, histories: readonly string[]): Promise<readonly Thread[]> => {
  const home = await openHome({ directory });
  const all: Thread[] = [];
  for (const history of histories) {
    const steps: { readonly shown: readonly string[]; readonly answer: string | undefined }[] = [];
    for await (const { messages, attempts } of home.calls.shown(branchRefOf(history, 0))) {
      const answers = attempts.map(({ answer }) => answer).filter(isJsonObject);
      steps.push({ shown: said(messages.map(({ message }) => message)), answer: said(answers)[0] });
    }
    const tip = steps.pop()?.shown ?? [];
    const calls = steps.map(({ shown, answer }, i) => ({
      shown,
      answer: answer ?? (steps[i + 1]?.shown ?? tip)[shown.length],
    }));
    all.push({ calls, behind: tip.slice((calls.at(-1)?.shown.length ?? -1) + 1) });
  }
  await home.close();
  return all;
};

/** Calls of the chat API as a cassette has them: each answer has an id of its own. */
const cassetteOf = (file: string, messages: readonly Message[]): string => {
  const calls = messages.flatMap((message, i) =>
    message.role === 'assistant' ? [{ asked: messages.slice(0, i), message }] : [],
  );
  const interactions = calls.map(({ asked, message }, i) => ({
    request: {
      method: 'POST',
      uri: 'https://api.openai.com/v1/chat/completions',
      headers: { 'content-type': ['application/json'] },
      body: JSON.stringify({ model: 'gpt-4o', messages: asked }),
    },
    response: {
      status: { code: 200, message: 'OK' },
      headers: { 'content-type': ['application/json'] },
      body: {
        string: JSON.stringify({
          ...{ id: `chatcmpl-${file}-${i}`, object: 'chat.completion', model: 'gpt-4o' },
          choices: [{ index: 0, message, finish_reason: 'stop' }],
        }),
      },
    },
  }));
  return JSON.stringify({ version: 1, interactions });
};

/** Where formats of calls name what no call was shown: in the export, or in the import of what it wrote. */
const UNSHOWN = 'message that no call was shown';
const BEHIND = 'message behind the last call';

describe('forty transcripts of an agent, given back in another format and imported in a new home', () => {
  if (transcripts.length === 0)
    test('say the same', ({ skip }) => skip('no recorded transcripts lie beside the checkout'));

  test.for([
    ['chat-jsonl', 'jsonl', null],
    ['atif', 'json', null],
    ['inspect', 'json', BEHIND],
    ['otlp', 'jsonl', UNSHOWN],
    // What is imported are calls with their bytes: nothing stands behind the last one.
    ['vcr', 'yaml', null],
    ['bundle', 'stemma', null],
  ] as const)('as %s, call by call', { timeout: 600_000 }, async ([format, extension, loses]) => {
    const base = join(folder.path, format);
    mkdirSync(base);
    const [home, other] = [join(base, 'home'), join(base, 'other')];
    const given = transcripts.map(({ file, messages }) => {
      if (format !== 'vcr') return file;
      const path = join(base, basename(file));
      writeFileSync(path, cassetteOf(basename(file), messages));
      return path;
    });
    const first = await importInto(home, given);
    const made: string[] = [];
    const lost: string[] = [];
    holdHome(home);
    for (const { history } of first.imported) {
      const to = join(base, `${history}.${extension}`);
      const asked =
        format === 'bundle' ? ['bundle', history, '--whole'] : ['export', history, '--format', format];
      const written = (await stemmaJson([...asked, '-o', to, '--home', home])) as Written;
      lost.push(...Object.entries(written.lost ?? {}).map(([what, count]) => `${what} ${count}`));
      made.push(to);
    }
    await releaseHome();
    const second = await importInto(other, made);
    expect(second.refused).toEqual([]);
    for (const { dropped = {}, warnings = [] } of second.imported)
      lost.push(
        ...Object.entries(dropped).map(([what, count]) => `${what} ${count}`),
        ...warnings.map(String),
      );
    const threads = await threadsIn(
      other,
      second.imported.map(({ history }) => history),
    );
    const named: string[] = [];
    for (const [i, { messages, file }] of transcripts.entries()) {
      const { calls, behind } = wanted(messages);
      expect(threads[i]?.calls, file).toEqual(calls);
      expect(threads[i]?.behind, file).toEqual(format === 'vcr' || loses !== null ? [] : behind);
      if (loses !== null && behind.length > 0) named.push(`${loses} ${behind.length}`);
    }
    expect(lost).toEqual(named);
  });
});
