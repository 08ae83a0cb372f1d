import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { moveItem } from './one-stop.ts';

type Props = {
  readonly label: string;
  /** `list`: its rows hold buttons of their own; a list box unless said. */
  readonly kind?: 'listbox' | 'list';
  readonly count: number;
  readonly rowHeight: number;
  /** The row that is kept in view when it changes; -1: none. */
  readonly selected: number;
  /** Of a list whose rows are no stops of the Tab key: a selector of what the arrow keys go through. */
  readonly items?: string;
  readonly row: (index: number, seen: Seen) => ComponentChildren;
  /** What lies over the rows in view. */
  readonly over?: (seen: Seen) => ComponentChildren;
  /** How wide the rows are in a list of that width, if they may be wider than it; and what stands in the middle then. */
  readonly wide?: {
    readonly of: (width: number) => number;
    readonly middle: (width: number) => number | null;
  };
};

/** What is in the page of a list: rows, and the pixels across that are in view. */
export type Seen = {
  readonly first: number;
  /** The first one behind. */
  readonly last: number;
  readonly left: number;
  readonly width: number;
};

const AROUND = 6;

/** What a row that can be chosen has: the list says which of how many it is, and its keys choose it. */
export const optionProps = (index: number, count: number, isSelected: boolean) =>
  ({
    role: 'option',
    'aria-selected': isSelected,
    'aria-setsize': count,
    'aria-posinset': index + 1,
    tabIndex: -1,
  }) as const;

/** A list of rows of equal height of which only those in view are in the page, however many there are. */
export const VirtualList = ({
  label,
  kind = 'listbox',
  count,
  rowHeight,
  selected,
  items,
  row,
  over,
  wide,
}: Props): ComponentChildren => {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [left, setLeft] = useState(0);
  const [[width, height], setSize] = useState<readonly [number, number]>([300, 800]);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = (): void =>
      setSize((known) =>
        known[0] === element.clientWidth && known[1] === element.clientHeight
          ? known
          : [element.clientWidth, element.clientHeight],
      );
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const across = wide?.of(width);
  const middle = wide?.middle(width) ?? null;
  useLayoutEffect(() => {
    if (box.current !== null && middle !== null) box.current.scrollLeft = middle - width / 2;
  }, [middle, across]);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || selected < 0) return;
    const above = selected * rowHeight - rowHeight;
    const below = (selected + 2) * rowHeight - element.clientHeight;
    if (element.scrollTop > above) element.scrollTop = above;
    else if (element.scrollTop < below) element.scrollTop = below;
  }, [selected, rowHeight]);

  const first = Math.max(0, Math.floor(top / rowHeight) - AROUND);
  const last = Math.min(count, Math.ceil((top + height) / rowHeight) + AROUND);
  const seen: Seen = { first, last, left, width };
  const rows: ComponentChildren[] = [];
  for (let i = first; i < last; i++)
    rows.push(
      <div
        class="virtual-row"
        role="presentation"
        key={i}
        style={{ top: `${i * rowHeight}px`, height: `${rowHeight}px` }}
      >
        {row(i, seen)}
      </div>,
    );
  return (
    <div
      class="scroll"
      ref={box}
      role={kind}
      aria-label={label}
      tabIndex={0}
      onKeyDown={(event) => items !== undefined && moveItem(event, event.currentTarget, items)}
      onScroll={({ currentTarget }) => {
        setTop(currentTarget.scrollTop);
        setLeft(currentTarget.scrollLeft);
      }}
    >
      <div
        class="virtual-space"
        role="presentation"
        style={{
          height: `${count * rowHeight}px`,
          ...(across === undefined ? {} : { width: `${across}px` }),
        }}
      >
        {rows}
        {over?.(seen)}
      </div>
    </div>
  );
};
