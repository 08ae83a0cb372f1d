import { expect, test } from 'vitest';
import { ENDPOINTS, openApi } from '../src/index.ts';

const references = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(references);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, item]) =>
    key === '$ref' && typeof item === 'string' ? [item] : references(item),
  );
};

test('OpenAPI names every endpoint once, and every reference in it leads somewhere', () => {
  const document = openApi('0.1.0') as {
    paths: Record<string, Record<string, { operationId: string }>>;
    components: { schemas: Record<string, unknown> };
  };
  const operations = Object.values(document.paths).flatMap((path) =>
    Object.values(path).map((one) => one.operationId),
  );
  expect(new Set(operations)).toEqual(new Set(Object.keys(ENDPOINTS)));
  expect(operations.length).toBe(Object.keys(ENDPOINTS).length);
  const known = Object.keys(document.components.schemas).map((id) => `#/components/schemas/${id}`);
  expect(references(document).filter((reference) => !known.includes(reference))).toEqual([]);
});

test('parameters in a path are the parameters of the endpoint', () => {
  for (const endpoint of Object.values(ENDPOINTS)) {
    const inPath = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
    expect(Object.keys('params' in endpoint ? endpoint.params.shape : {})).toEqual(inPath);
  }
});
