import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { METRICS } from '../src/index.ts';

const HEAD = `# Metrics

What do Stemma's services count, and how do you watch them?

\`\`\`sh
curl -s http://127.0.0.1:7836/metrics | grep stemma_commands_total
# stemma_commands_total{outcome="accepted"} 3
\`\`\`

Every service publishes metrics for Prometheus: the gateway at \`/metrics\` on its own port, the others on their status
server (\`STEMMA_STATUS_PORT\`; [running.md](running.md#metrics-and-health)). A metric that a service does not use is 0 or
absent. \`read_model\` is the group of rows: \`all\`, or a read model of a user's own. Each service also has the metrics of
every Node.js process (\`process_…\`, \`nodejs_…\`), as the library prom-client defines them.

This list is generated from \`packages/storage/metrics/src/definitions.ts\`. To regenerate it: \`pnpm exec vitest run packages/storage/metrics -u\`.
`;

test('docs/metrics.md lists every defined metric', async () => {
  const rows = Object.entries(METRICS).map(
    ([name, { kind, labels, help }]) =>
      `- \`${name}\` (${kind}${labels.length === 0 ? '' : `; ${labels.map((label) => `\`${label}\``).join(', ')}`}): ${help}`,
  );
  await expect(`${HEAD}\n${rows.join('\n')}\n`).toMatchFileSnapshot(
    fileURLToPath(new URL('../../../../docs/metrics.md', import.meta.url)),
  );
});

test.each(Object.entries(METRICS))('%s has a name that follows the rules of Prometheus', (name, { kind }) => {
  expect(name).toMatch(/^stemma_[a-z_]+$/);
  expect(name.endsWith('_total')).toBe(kind === 'counter');
});
