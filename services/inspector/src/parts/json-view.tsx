import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { indent, openedArguments } from './json-text.ts';
import { SafeText } from './safe-text.tsx';
import { grouped, plural } from './words.ts';

/** A part of so many lines can be folded; what is shorter is text. */
const FOLDED_FROM = 6;
/** Deeper parts, and those of more lines, are shown when they are opened. */
const OPEN_DEPTH = 4;
const OPEN_LINES = 400;
/** So many items of a list are shown at a time. */
const ITEMS = 200;

/** A value as indented JSON, whose longer parts can be folded. Arguments of tool calls are shown as the JSON that they are. */
export const JsonView = ({ value }: { readonly value: unknown }): ComponentChildren => (
  <div class="content json">
    <Part value={value} name={null} space="" depth={0} end="" />
  </div>
);

type PartProps = {
  readonly value: unknown;
  /** Null in a list. */
  readonly name: string | null;
  readonly space: string;
  readonly depth: number;
  /** The comma behind it, if one follows. */
  readonly end: string;
};

const Part = ({ value: given, name, space, depth, end }: PartProps): ComponentChildren => {
  const value = name === 'arguments' ? openedArguments(given) : given;
  const lines = linesOf(value, FOLDED_FROM + OPEN_LINES);
  const head = name === null ? '' : `${JSON.stringify(name)}: `;
  if (typeof value !== 'object' || value === null || lines < FOLDED_FROM)
    return (
      <div class="json-line">
        <SafeText text={`${space}${head}${indent(value, space, true)}${end}`} />
      </div>
    );
  return (
    <Folded
      {...{ value, space, depth, end, head }}
      isOpenAtFirst={depth === 0 || (depth < OPEN_DEPTH && lines < OPEN_LINES)}
    />
  );
};

const Folded = ({
  value,
  space,
  depth,
  end,
  head,
  isOpenAtFirst,
}: Omit<PartProps, 'value' | 'name'> & {
  readonly value: object;
  readonly head: string;
  readonly isOpenAtFirst: boolean;
}): ComponentChildren => {
  const [open, setOpen] = useState(isOpenAtFirst);
  const [limit, setLimit] = useState(ITEMS);
  const isList = Array.isArray(value);
  const entries: readonly (readonly [string | null, unknown])[] = isList
    ? (value as readonly unknown[]).map((item) => [null, item])
    : Object.entries(value);
  const [opening, closing] = isList ? ['[', ']'] : ['{', '}'];
  return (
    <details
      open={open}
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open);
      }}
    >
      <summary>
        <SafeText text={`${space}${head}${opening}`} />
        {!open && (
          <>
            <span class="quiet">
              {' '}
              {isList ? plural(entries.length, 'item') : plural(entries.length, 'name')}{' '}
            </span>
            {closing}
            {end}
          </>
        )}
      </summary>
      {open && (
        <>
          {entries.slice(0, limit).map(([key, item], at) => (
            <Part
              key={key ?? at}
              value={item}
              name={key}
              space={`${space}  `}
              depth={depth + 1}
              end={at + 1 < entries.length ? ',' : ''}
            />
          ))}
          {entries.length > limit && (
            <button class="more" onClick={() => setLimit(limit + ITEMS)}>
              {grouped(entries.length - limit)} more
            </button>
          )}
          <div class="json-line">
            {space}
            {closing}
            {end}
          </div>
        </>
      )}
    </details>
  );
};

/** How many lines a value takes, counted up to a limit. */
const linesOf = (value: unknown, limit: number): number => {
  if (typeof value !== 'object' || value === null) return 1;
  let lines = 2;
  for (const [name, item] of Object.entries(value)) {
    lines += linesOf(name === 'arguments' ? openedArguments(item) : item, limit - lines);
    if (lines >= limit) return limit;
  }
  return lines === 2 ? 1 : lines;
};
