import { closedBy } from '../src/index.ts';
import { HISTORIES, type Reader, type World } from './simulation-world.ts';

/** Which rule was broken by what readers were served, `fresh` being one that read it all at the end; undefined if none was. */
export const whatIsWrong = (world: World, fresh: Reader): string | undefined =>
  servesOnlyGenuine(world, fresh) ??
  servesNothingAfterDamage(world, fresh) ??
  servesWithoutGaps(fresh) ??
  servesEachCommandOnce(fresh) ??
  servesWhatWasAcknowledged(world, fresh) ??
  readersAgree(world, fresh);

const servesOnlyGenuine = (world: World, fresh: Reader): string | undefined =>
  fresh.served.every(({ hash }) => world.genuine.has(hash)) ? undefined : 'an altered frame was served';

const servesNothingAfterDamage = (world: World, fresh: Reader): string | undefined => {
  for (const [offset, history] of world.altered) {
    if (fresh.served.some((each) => each.history === history && each.offset >= offset))
      return 'something after damage was served';
    const writable = fresh.heads.get(history)?.state !== 'damaged' && !closedBy(fresh.checkpoint!.state);
    if (writable && !history.startsWith('log:')) return 'a writer could write after damage';
  }
  return undefined;
};

const servesWithoutGaps = (fresh: Reader): string | undefined => {
  for (const history of HISTORIES) {
    const seqs = fresh.served.filter((each) => each.history === history).map(({ seq }) => seq);
    if (seqs.some((seq, i) => seq !== i)) return 'a history has a gap';
  }
  return undefined;
};

const servesEachCommandOnce = (fresh: Reader): string | undefined =>
  new Set(fresh.served.map(({ command }) => command)).size === fresh.served.length
    ? undefined
    : 'a command has two effects';

/** Unless the log lost it, or it lies at or after damage. */
const servesWhatWasAcknowledged = (world: World, fresh: Reader): string | undefined => {
  const end = fresh.checkpoint!.cursor.offset;
  for (const { history, hash, offset } of world.acknowledged) {
    const stopped = fresh.heads.get(history)?.state === 'damaged' || offset >= end;
    if (!stopped && !fresh.served.some((each) => each.hash === hash))
      return 'an acknowledged frame was overtaken';
  }
  return undefined;
};

/** A reader that read all along has seen the same as one that reads from the start; exactly, if no record was altered. */
const readersAgree = (world: World, fresh: Reader): string | undefined => {
  const servedBy = (reader: Reader): string =>
    JSON.stringify(reader.served.map(({ hash, offset }) => [hash, offset]));
  for (const reader of [...world.writers, ...world.readers]) {
    if (world.altered.size === 0 && servedBy(reader) !== servedBy(fresh)) return 'two readers disagree';
    if (reader.served.some(({ hash }) => !world.genuine.has(hash))) return 'an altered frame was served';
  }
  return undefined;
};
