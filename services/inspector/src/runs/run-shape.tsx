import type { ComponentChildren } from 'preact';

const WORDS: Readonly<Record<string, string>> = { a: 'answers', t: 'tools', f: 'failures', '-': 'unknown' };
const MOST = 40;

/** A cell a call: what the model decided there, and where something failed. Of a long run the calls are put together. */
export const RunShape = ({ shape }: { readonly shape: string }): ComponentChildren => {
  const cells = Array.from(shape);
  const each = Math.max(1, Math.ceil(cells.length / MOST));
  const drawn = Array.from({ length: Math.ceil(cells.length / each) }, (_, i) => {
    const part = cells.slice(i * each, (i + 1) * each);
    return part.includes('f') ? 'f' : (part.find((cell) => cell !== '-') ?? '-');
  });
  return (
    <svg
      class="run-shape"
      role="img"
      aria-label={wordsOf(cells)}
      viewBox={`0 0 ${Math.max(1, drawn.length) * 4} 14`}
      style={{ width: `${drawn.length * 4}px` }}
      preserveAspectRatio="none"
    >
      <title>{wordsOf(cells)}</title>
      {drawn.map((cell, i) => (
        <rect
          key={i}
          class={`shape-${cell === '-' ? 'none' : cell}`}
          x={i * 4}
          y={cell === 'f' ? 0 : 3}
          width={3.2}
          height={cell === 'f' ? 14 : 8}
        />
      ))}
    </svg>
  );
};

const wordsOf = (cells: readonly string[]): string =>
  Object.entries(WORDS)
    .map(([cell, words]) => [cells.filter((one) => one === cell).length, words] as const)
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${count} ${words}`)
    .join(', ');
