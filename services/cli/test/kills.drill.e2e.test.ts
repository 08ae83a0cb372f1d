import { NO_ANOMALIES, sized } from '@stemma/test-kit';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runKills } from './kills/run-kills.ts';
import { temporaryFolder } from './run-stemma.ts';

it(
  'when writers, commands, projectors and gateways of one home are killed at any moment, no acknowledged command is lost or repeated, and the rows equal a rebuild from the log',
  { tags: ['record§6:killed', 'record§3:outcome'], timeout: 600_000 },
  async () => {
    using folder = temporaryFolder();
    const report = await runKills(join(folder.path, 'home'), { count: sized(4, 40) });
    expect(report.anomalies).toEqual(NO_ANOMALIES);
    expect(report).toMatchObject({ differences: 0, problems: [], ended: [] });
    expect(report.acknowledged).toBeGreaterThan(0);
  },
);
