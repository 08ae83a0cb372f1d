import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { importerFor, IMPORTERS } from '../src/catalogue.ts';
import { FOREIGN } from '../src/foreign/catalogue.ts';

describe('the catalogue of importers', () => {
  it('has an entry for every format that has a file or folder', { tags: ['context-tree§9'] }, () => {
    const folders = readdirSync(new URL('../src', import.meta.url), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .filter((name) => name !== 'foreign');
    const foreign = FOREIGN.map(({ name }) => name);
    expect(new Set(IMPORTERS.map(({ name }) => name))).toEqual(new Set([...folders, 'pact', ...foreign]));
    expect(new Set(foreign).size).toBe(foreign.length);
    for (const { name, mapping } of IMPORTERS) expect(mapping).toMatch(new RegExp(`^${name}@\\d+$`));
  });

  it.each([
    [[], 'openai-chat'],
    [[{ role: 'user' }], 'openai-chat'],
    [{ messages: [] }, 'openai-chat'],
    [{ role: 'user' }, 'openai-chat'],
    [{ system: 'x', messages: [] }, 'openai-chat'],
    [{ contents: [{ parts: [] }] }, 'openai-chat'],
    [{ spec_version: 'PACT/0.1.0', root: {} }, 'pact'],
    [{ op: 'start', steps: 1 }, 'steps'],
    [{ _type: 'ctree_eventlog_header', schema_version: '0.1' }, 'ctree-jsonl'],
    [{ kind: 'message', payload: { role: 'user' }, turn: 1 }, 'ctree-jsonl'],
  ])('recognises %j as the format %s', { tags: ['context-tree§9'] }, (first, name) => {
    expect(importerFor(first, 'the file').name).toBe(name);
  });

  it.each([
    ['steps', { op: 'start', steps: 1 }],
    ['pact', { spec_version: 'PACT/0.1.0', root: {} }],
    ['ctree-jsonl', { kind: 'message', payload: { role: 'user' }, turn: 1 }],
  ])(
    'refuses a list of %s, which belong on lines, and says so',
    { tags: ['context-tree§8:codes'] },
    (name, item) => {
      const message = expect.stringMatching(
        new RegExp(`the file is a list .* ${name} has on lines`),
      ) as string;
      const refusal = expect.objectContaining({ code: 'E_FORMAT_UNKNOWN', message }) as Error;
      expect(() => importerFor([item], 'the file')).toThrow(refusal);
    },
  );

  it.each([[7], [null], ['x'], [[1]], [{ op: 'insert' }], [{ messages: 1 }]])(
    'recognises no format in %j',
    { tags: ['context-tree§8:codes'] },
    (first) => {
      const asked = (): unknown => importerFor(first, 'the file');
      expect(asked).toThrow(expect.objectContaining({ code: 'E_FORMAT_UNKNOWN' }) as Error);
    },
  );
});
