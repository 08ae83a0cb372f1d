import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { timeLeft, useHeld } from '../calls/use-held.ts';
import { visible } from '../parts/safe-text.tsx';
import type { Go } from './address.ts';

/** In the head of every view: how many calls wait, and how long the first one still does. It leads there. */
export const HeldBadge = ({
  title,
  go,
}: {
  /** What the tab of the browser says besides. */
  readonly title: readonly (string | null | undefined)[];
  readonly go: Go;
}): ComponentChildren => {
  const calls = useHeld();
  const [first] = calls;
  const words = first === undefined ? null : `${calls.length} held ${timeLeft(first.until, Date.now())}`;
  const shown = [words === null ? null : `🔒 ${words}`, ...title, 'Stemma']
    .filter((one) => one != null)
    .map(visible)
    .join(' · ');
  useEffect(() => {
    document.title = shown;
  }, [shown]);
  if (first === undefined) return null;
  return (
    <button
      class="held-badge"
      title="Show the call that waits"
      onClick={() => go({ history: first.branch, at: 'open', show: 'call' })}
    >
      {words}
    </button>
  );
};
