import { atif } from './atif.ts';
import { chatJsonl } from './chat-jsonl.ts';
import type { Exporter } from './exporter.ts';
import { inspect } from './inspect.ts';
import { otlp } from './otlp.ts';
import { parquet } from './parquet.ts';
import { vcr } from './vcr.ts';

/** Every format that a history or branch is exported in. A new one is a file and a line. */
export const EXPORTERS: readonly Exporter[] = [chatJsonl, atif, inspect, otlp, vcr, parquet];
