import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { openApi } from '../src/index.ts';

type Schema = { readonly $ref?: string; readonly type?: string; readonly enum?: readonly string[] };
type Operation = {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly {
    name: string;
    in: string;
    required: boolean;
    description?: string;
    schema: Schema;
  }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { schema?: Schema }>> };
  readonly responses: Readonly<
    Record<string, { description: string; content: Readonly<Record<string, { schema?: Schema }>> }>
  >;
};

const HEAD = `# The HTTP API

Which endpoints does Stemma's server have, and what does each take and answer?

\`\`\`sh
curl -s 'http://127.0.0.1:7836/api/histories/slow-checkout/select?selector=%40t0%20.cb%5Brole%3D%22user%22%5D&limit=2'
# {"position":{"history":"…","branch":"…","branchId":0,"seq":…,"cycle":18,"committed":true,"label":"@c18"},"ids":[…]}
\`\`\`

This list is generated from the contract in \`packages/formats/api\`; \`/openapi.json\` has the schemas. The rules for all endpoints are in
[running.md](running.md#the-gateway). To regenerate it: \`pnpm exec vitest run packages/formats/api -u\`.
`;

const shape = ({ $ref, type, enum: values }: Schema): string =>
  $ref?.split('/').at(-1) ?? values?.map((value) => `"${value}"`).join(' or ') ?? type ?? 'any';

const section = (path: string, method: string, operation: Operation): string => {
  const lines = [`## ${method.toUpperCase()} ${path}`, '', operation.summary, ''];
  for (const { name, required, in: where, description, schema } of operation.parameters)
    lines.push(
      `- \`${name}\` (${where}, ${required ? 'required, ' : ''}${shape(schema)})${description === undefined ? '' : `: ${description}`}`,
    );
  for (const [mime, { schema }] of Object.entries(operation.requestBody?.content ?? {}))
    lines.push(`- body: ${schema === undefined ? 'the same' : `\`${shape(schema)}\``}, ${mime}`);
  for (const [status, { description, content }] of Object.entries(operation.responses)) {
    const [mime = '', { schema } = {}] = Object.entries(content)[0] ?? [];
    const what = description === 'the answer' && schema !== undefined ? `\`${shape(schema)}\`` : description;
    lines.push(Number(status) < 300 ? `- ${status}: ${what}, ${mime}` : `- ${status}: ${codes(description)}`);
  }
  return [...lines, ''].join('\n');
};

const codes = (description: string): string =>
  description
    .split(', ')
    .map((code) => `\`${code}\``)
    .join(' ');

test('docs/http.md lists every endpoint of the contract as it is', async () => {
  const { paths } = openApi('0.1.0') as { paths: Record<string, Record<string, Operation>> };
  const sections = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => section(path, method, operation)),
  );
  const file = fileURLToPath(new URL('../../../../docs/http.md', import.meta.url));
  await expect([HEAD, ...sections].join('\n')).toMatchFileSnapshot(file);
});
