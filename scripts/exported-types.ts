import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A type that a file of a package or service declares and exports. */
export type ExportedType = {
  readonly name: string;
  readonly file: string;
  readonly line: number;
};

/** Prettier puts every declaration of a module at the beginning of a line. */
const DECLARATION =
  /^export (?:declare )?(?:abstract )?(?:type|class|interface|enum) (?<name>[A-Za-z_$][\w$]*)/;
/** `export { A, type B as C };` exports what the file declares above; with `from` it passes on another file's. */
const EXPORT_LIST = /^export (?<type>type )?\{(?<names>[^}]*)\}(?<from> from)?/gm;

/** The types that one file declares and exports, in its order. What it passes on from another file is not its own. */
export function exportedTypesIn(file: string, source: string): ExportedType[] {
  const declared = source.split('\n').flatMap((text, index) => {
    const name = DECLARATION.exec(text)?.groups?.['name'];
    return name === undefined ? [] : [{ name, file, line: index + 1 }];
  });
  const listed = [...source.matchAll(EXPORT_LIST)].flatMap((match) => {
    const { type, names = '', from } = match.groups ?? {};
    if (from !== undefined) return [];
    const line = source.slice(0, match.index).split('\n').length;
    return names.split(',').flatMap((entry) => {
      const [, marked, local, exported] = /^\s*(type )?([\w$]+)(?: as ([\w$]+))?\s*$/.exec(entry) ?? [];
      if (local === undefined) return [];
      const isType = type !== undefined || marked !== undefined || declaresType(source, local);
      return isType ? [{ name: exported ?? local, file, line }] : [];
    });
  });
  return [...declared, ...listed];
}

/** One sentence for each name under which two files declare exported types. */
export function typesOfOneName(types: readonly ExportedType[]): string[] {
  const byName = new Map<string, ExportedType[]>();
  for (const type of types) byName.set(type.name, [...(byName.get(type.name) ?? []), type]);
  return [...byName]
    .filter(([, found]) => new Set(found.map(({ file }) => file)).size > 1)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, found]) => {
      const declarations = found.map(({ file, line }) => `${file}:${line}`).join(', ');
      return `${declarations}: ${name} is exported twice. Put the subject of the package in front.`;
    });
}

/** The exported types of all packages and services of a checkout; tests and contract suites are not read. */
export function exportedTypes(root: string): ExportedType[] {
  return globSync('{packages/*,services}/*/src/**/*.{ts,tsx}', { cwd: root, exclude: ['**/node_modules/**'] })
    .filter((file) => !/\.test\.tsx?$|\/src\/contract(\/|\.ts$)/.test(file))
    .sort((a, b) => (a < b ? -1 : 1))
    .flatMap((file) => exportedTypesIn(file, readFileSync(join(root, file), 'utf8')));
}

function declaresType(source: string, name: string): boolean {
  return new RegExp(`^(?:declare )?(?:abstract )?(?:type|class|interface|enum) ${name}\\b`, 'm').test(source);
}
