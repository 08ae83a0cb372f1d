import { ERRORS, type ErrorCode } from '@stemma/errors';
import { defined } from '@stemma/values';
import { z } from 'zod';
import { ErrorAnswer } from './answers.ts';
import type { Answer, Endpoint } from './endpoint.ts';
import { ENDPOINTS, type Endpoints } from './endpoints.ts';

type Doc = Record<string, unknown>;

/** Codes that any endpoint may answer with. */
const EVERYWHERE: readonly ErrorCode[] = [
  'E_USAGE',
  'E_NOT_ALLOWED',
  'E_METHOD_NOT_ALLOWED',
  'E_TOO_MANY_REQUESTS',
  'E_BUSY',
  'E_HISTORY_DAMAGED',
  'E_INTERNAL',
  'E_ROWS_BEHIND',
  'E_BROKERS_UNREACHABLE',
  'E_DATABASE_UNREACHABLE',
];

/** Codes of every endpoint with a body. */
const OF_BODIES: readonly ErrorCode[] = ['E_INPUT_TOO_LARGE', 'E_REQUEST_SLOW'];

/** The contract as an OpenAPI 3.1 document. Schemas with an id stand under `components`. */
export const openApi = (version: string, endpoints: Endpoints = ENDPOINTS): Doc => {
  const schemas: Doc = {};
  const paths: Record<string, Doc> = {};
  for (const [name, endpoint] of Object.entries<Endpoint>(endpoints)) {
    paths[endpoint.path] ??= {};
    (paths[endpoint.path] as Doc)[endpoint.method.toLowerCase()] = operation(name, endpoint, schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Stemma',
      version,
      description:
        'What language models were shown, call by call. Made from the contract in packages/formats/api.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    paths,
    components: { schemas },
  };
};

const operation = (name: string, endpoint: Endpoint, schemas: Doc): Doc => ({
  operationId: name,
  summary: endpoint.summary,
  parameters: [
    ...parameters('path', endpoint.params, schemas),
    ...parameters('query', endpoint.query, schemas),
  ],
  ...(endpoint.body === undefined
    ? {}
    : {
        requestBody: {
          required: true,
          content: {
            ...json(jsonSchema(endpoint.body, schemas, 'input')),
            ...Object.fromEntries((endpoint.otherBodies ?? []).map((mime) => [mime, {}])),
          },
        },
      }),
  responses: { ...success(endpoint.answer, schemas), ...failures(codesOf(endpoint), schemas) },
});

const parameters = (where: 'path' | 'query', object: z.ZodObject | undefined, schemas: Doc): Doc[] =>
  Object.entries(object?.shape ?? {}).map(([name, schema]) => {
    const { description, ...rest } = jsonSchema(schema as z.ZodType, schemas, 'output');
    return {
      name,
      in: where,
      required: !z.safeParse(schema as z.ZodType, undefined).success,
      ...defined({ description }),
      schema: rest,
    };
  });

const success = (answer: Answer, schemas: Doc): Doc => {
  switch (answer.kind) {
    case 'json':
      return {
        [answer.status]: {
          description: 'the answer',
          content: json(jsonSchema(answer.schema, schemas, 'output')),
        },
      };
    case 'bytes':
      return { 200: { description: answer.describe, content: { [answer.mime]: {} } } };
    case 'stream':
      return {
        200: {
          description: `${answer.describe}. The data of each is as in the schema.`,
          content: { 'text/event-stream': { schema: jsonSchema(answer.message, schemas, 'output') } },
        },
      };
  }
};

/** All codes that an endpoint may answer with. */
const codesOf = ({ errors, body, heavy }: Endpoint): ReadonlySet<ErrorCode> =>
  new Set([
    ...errors,
    ...EVERYWHERE,
    ...(body === undefined ? [] : OF_BODIES),
    ...(heavy === true ? (['E_QUERY_TIMEOUT'] as const) : []),
  ]);

/** Errors by status, with the codes that have it. */
const failures = (codes: ReadonlySet<ErrorCode>, schemas: Doc): Doc => {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of codes) {
    const { status } = ERRORS[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const schema = jsonSchema(ErrorAnswer, schemas, 'output');
  return Object.fromEntries(
    [...byStatus].map(([status, own]) => [status, { description: own.join(', '), content: json(schema) }]),
  );
};

const json = (schema: Doc): Doc => ({ 'application/json': { schema } });

/** The JSON schema of a zod schema; what has an id goes to `schemas` and is referred to. */
const jsonSchema = (schema: z.ZodType, schemas: Doc, io: 'input' | 'output'): Doc => {
  const {
    $schema: _,
    $defs,
    ...own
  } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: node }) => {
      if (zodSchema._zod.def.type === 'bigint') node.type = 'integer';
    },
  }) as Doc & { $defs?: Doc };
  Object.assign(schemas, relocate($defs ?? {}));
  const id = own['id'];
  if (typeof id !== 'string') return relocate(own) as Doc;
  schemas[id] = relocate(own);
  return { $ref: `#/components/schemas/${id}` };
};

/** References point to `components`, and the ids, which are keys there, are left out. */
const relocate = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(relocate);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, item]) => !(key === 'id' && typeof item === 'string'))
      .map(([key, item]) => [
        key,
        key === '$ref' && typeof item === 'string'
          ? item.replace('#/$defs/', '#/components/schemas/')
          : relocate(item),
      ]),
  );
};
