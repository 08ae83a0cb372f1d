import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ALL_FOLDS, READ_MODELS } from './catalogue.ts';

it('lists every folder of a read model, and nothing else', () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  expect(new Set(READ_MODELS.map(({ name }) => name))).toEqual(new Set(folders.map(({ name }) => name)));
});

it('gives every table one name, so that read models can share a generation', () => {
  const names = ALL_FOLDS.flatMap(({ tables }) => tables.map(({ name }) => name));
  expect(new Set(names).size).toBe(names.length);
});
