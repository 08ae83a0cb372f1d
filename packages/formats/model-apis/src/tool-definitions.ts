import { canonicalJson, isJsonObject, type WideJson, type WideJsonObject } from '@stemma/canonical';

/** What a request says of a tool besides its name; its schema is under `parameters`, in whichever API. */
export type ToolDefinition = WideJsonObject;

/** The tools of a list by their names, in the form of OpenAI's APIs, Anthropic's or Gemini's. */
export const definitionsIn = (given: WideJson): ReadonlyMap<string, ToolDefinition> => {
  const found = new Map<string, ToolDefinition>();
  for (const each of Array.isArray(given) ? (given as readonly WideJson[]) : []) {
    if (!isJsonObject(each)) continue;
    const declared = each['functionDeclarations'] ?? each['function_declarations'];
    if (Array.isArray(declared)) {
      for (const one of declared as readonly WideJson[])
        if (isJsonObject(one)) define(found, one, one['name']);
      continue;
    }
    const inner = each['function'] ?? each['custom'];
    const definition = isJsonObject(inner) ? inner : each;
    // What a provider runs itself has a type and no name, or is the only key.
    define(found, definition, definition['name'] ?? each['type'] ?? Object.keys(each)[0]);
  }
  return found;
};

const define = (
  found: Map<string, ToolDefinition>,
  { name: _name, input_schema, parametersJsonSchema, ...rest }: WideJsonObject,
  name: WideJson | undefined,
): void => {
  const parameters = rest['parameters'] ?? input_schema ?? parametersJsonSchema;
  if (typeof name === 'string') found.set(name, parameters === undefined ? rest : { ...rest, parameters });
};

/** A value that differs, by its path: `description`, `parameters.properties.city.type`; undefined: it is not there. */
export type ValueChange = {
  readonly path: string;
  readonly before: WideJson | undefined;
  readonly after: WideJson | undefined;
};

/** What differs between two values, by path; names of one object in their order. */
export const valueChanges = (before: WideJson, after: WideJson, path = ''): readonly ValueChange[] => {
  if (isJsonObject(before) && isJsonObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort((a, b) =>
      a < b ? -1 : 1,
    );
    return names.flatMap((name) => {
      const inner = path === '' ? name : `${path}.${name}`;
      const [old, fresh] = [before[name], after[name]];
      return old === undefined || fresh === undefined
        ? [{ path: inner, before: old, after: fresh }]
        : valueChanges(old, fresh, inner);
    });
  }
  return canonicalJson(before) === canonicalJson(after) ? [] : [{ path, before, after }];
};
