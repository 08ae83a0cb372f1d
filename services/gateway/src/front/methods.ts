import { ENDPOINTS } from '@stemma/api';
import { fail } from '@stemma/errors';

/** Paths that are no endpoints of the API. */
const OTHERS = ['/', '/openapi.json', '/metrics', '/assets/{name}'];

/** The methods of every path. A stream has no HEAD: there is nothing to say of it without opening it. */
const METHODS: ReadonlyMap<number, readonly (readonly [path: RegExp, methods: readonly string[]])[]> =
  (() => {
    const found = new Map<string, Set<string>>();
    const add = (path: string, ...methods: readonly string[]): void => {
      const known = found.get(path) ?? new Set();
      for (const method of methods) known.add(method);
      found.set(path, known);
    };
    for (const { method, path, answer } of Object.values(ENDPOINTS))
      add(path, ...(method === 'GET' && answer.kind !== 'stream' ? ['GET', 'HEAD'] : [method]));
    for (const path of OTHERS) add(path, 'GET', 'HEAD');
    const grouped = Map.groupBy(found, ([path]) => slashesIn(path));
    return new Map(
      [...grouped].map(([slashes, group]) => [
        slashes,
        group.map(([path, methods]) => [patternOf(path), [...methods]] as const),
      ]),
    );
  })();

/** A path is matched only by patterns with as many slashes. */
function slashesIn(path: string): number {
  let count = 0;
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) count++;
  return count;
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`);
}

const methodsOf = (path: string): readonly string[] =>
  (METHODS.get(slashesIn(path)) ?? []).flatMap(([pattern, methods]) => (pattern.test(path) ? methods : []));

/** @throws E_METHOD_NOT_ALLOWED with the methods that the path has; nothing for a path that is nobody's. */
export const refuseMethod = (method: string, path: string): void => {
  const allowed = methodsOf(path);
  if (allowed.length === 0 || allowed.includes(method)) return;
  throw fail('E_METHOD_NOT_ALLOWED', `this address takes ${allowed.join(', ')}, not ${method.slice(0, 20)}`, {
    allow: allowed.join(', '),
  });
};

/** Before a body is taken. The path is not repeated: secrets that it may hold are redacted further on. @throws E_NOT_FOUND */
export const refuseUnknown = (path: string): void => {
  if (methodsOf(path).length === 0) throw fail('E_NOT_FOUND', 'there is nothing at this address');
};
