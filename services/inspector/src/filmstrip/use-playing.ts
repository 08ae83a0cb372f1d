import { useEffect, useState } from 'preact/hooks';
import type { Go } from '../page/address.ts';
import type { Chosen } from './chosen-call.ts';

/** How long each call is shown while they are played, in milliseconds. */
const STEP = 700;

/** Shows one call after the other until the last one, or until somebody stops it. */
export const usePlaying = (chosen: Chosen, go: Go) => {
  const [playing, setPlaying] = useState(false);
  useEffect(() => {
    if (!playing) return undefined;
    if (chosen.isLast) {
      setPlaying(false);
      return undefined;
    }
    const next = setTimeout(() => chosen.step(go, 1), STEP);
    return () => clearTimeout(next);
  }, [playing, chosen.cycle, chosen.isLast]);
  const play = (): void => {
    if (!playing && chosen.isLast) chosen.chooseFirst(go);
    setPlaying(!playing);
  };
  return { playing, play };
};
