import { compareCodePoints } from '@stemma/canonical';
import type { ForeignItem } from '../item.ts';
import type { ForeignReader } from '../reader.ts';
import { eachUnit } from '../whole-units.ts';
import { openSpanAssembly } from './assembly.ts';
import { holdsSpan, spansIn } from './layouts/find-spans.ts';

/** So many characters of spans wait for those above them; beyond, the calls of traces that are whole are given. */
const MOST_WAITING = 16 * 1024 * 1024;

/**
 * Traces of OpenTelemetry: each call of a model is an exchange; its conversation is the one that it names, its session, or its
 * trace. A call that two instrumentations report (one span below the other) is one.
 */
export const otel: ForeignReader = {
  name: 'otel',
  mapping: 'otel@1',
  summary:
    'traces of OpenTelemetry: OTLP, Tempo, Jaeger, Phoenix, console exporters; GenAI conventions, OpenInference, AI SDK',
  versions:
    'OTLP JSON 1.0 to 1.7 and before (instrumentationLibrarySpans); Tempo, Jaeger 1 and Phoenix exports; GenAI conventions 1.27 to 1.38 and OpenLLMetry; OpenInference 0.1; AI SDK 3 to 6',
  recognises: (first) => holdsSpan(first),
  takesItems: (first) => holdsSpan(first),
  async *read(units) {
    const assembly = openSpanAssembly();
    const dropped = new Map<string, number>();
    const drop = (what: string, count = 1): void => {
      dropped.set(what, (dropped.get(what) ?? 0) + count);
    };
    function* counted(items: Iterable<ForeignItem>): Iterable<ForeignItem> {
      for (const item of items)
        if (item.kind === 'dropped') drop(item.what, item.count);
        else yield item;
    }
    yield* eachUnit(units, function* (unit) {
      for (const found of spansIn(unit.value, unit.where)) {
        if ('dropped' in found) {
          drop(found.dropped);
          continue;
        }
        const kind = assembly.add(found.span);
        if (kind === null) yield { kind: 'warning', code: 'W_REPEATED', where: unit.where };
        else if (kind !== 'model') drop(`span of kind ${kind}`);
      }
      if (assembly.size() > MOST_WAITING) {
        yield* counted(assembly.release('closed'));
        if (assembly.size() > MOST_WAITING) yield* counted(assembly.release('all'));
      }
    });
    yield* counted(assembly.release('all'));
    for (const [what, count] of [...dropped].toSorted(([a], [b]) => compareCodePoints(a, b)))
      yield { kind: 'dropped', what, count };
  },
};
