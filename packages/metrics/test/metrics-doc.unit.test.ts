import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { METRICS } from '../src/index.ts';

const HEAD = `# Metrics

Every service says what it counts in the form that Prometheus reads: the gateway at \`/metrics\` on its own door, the others
at the address of their status server (\`STEMMA_STATUS_PORT\`; [running.md](running.md#metrics-and-health)). What a service
does not do stays at nothing or absent. \`read_model\` is the group of rows: \`all\`, or the one that a projector was started
for. Besides these there are the metrics of every process of Node.js (\`process_…\`, \`nodejs_…\`), as the library prom-client
defines them.

This list is made from \`packages/metrics/src/definitions.ts\`. To write it anew: \`pnpm exec vitest run packages/metrics -u\`.
`;

test('docs/metrics.md lists what the definitions say', async () => {
  const rows = Object.entries(METRICS).map(
    ([name, { kind, labels, help }]) =>
      `- \`${name}\` (${kind}${labels.length === 0 ? '' : `; ${labels.map((label) => `\`${label}\``).join(', ')}`}): ${help}`,
  );
  await expect(`${HEAD}\n${rows.join('\n')}\n`).toMatchFileSnapshot(
    fileURLToPath(new URL('../../../docs/metrics.md', import.meta.url)),
  );
});

test.each(Object.entries(METRICS))('%s is named as Prometheus wants it', (name, { kind }) => {
  expect(name).toMatch(/^stemma_[a-z_]+$/);
  expect(name.endsWith('_total')).toBe(kind === 'counter');
});
