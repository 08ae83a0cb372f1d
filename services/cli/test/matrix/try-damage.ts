import { cpSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Run } from '../run-stemma.ts';
import type { Asker, Ended } from './asker.ts';
import { damagedCopy, entriesOf, restore, touchedBy, type Damage, type SegmentEntry } from './damages.ts';
import { HISTORIES, isFixed, isOfNow, NEEDED, QUESTIONS, WRITTEN_TO, type Question } from './whole-home.ts';

/** A home that is whole, and what it answers. */
export type Whole = {
  readonly home: string;
  /** A copy of it, which is asked: who opens a home leaves traces in it. */
  readonly asked: string;
  /** Of the questions that were asked so far. */
  readonly answers: Map<string, string>;
  /** By the name of each history. */
  readonly ids: ReadonlyMap<string, string>;
  /** Of the main branch of each history, by its name. */
  readonly snapshots: ReadonlyMap<string, readonly Snapshot[]>;
  readonly entries: readonly SegmentEntry[];
};

/** Where a snapshot is: `@c7`, and the frame that committed it. */
type Snapshot = { readonly label: string; readonly seq: number };

const spell = (question: Question): string => question.join(' ');

/** @param remarks what it may say beside its answer */
const askWhole = async (asker: Asker, home: string, question: Question, remarks = /^$/): Promise<string> => {
  const ended = await asker.ask([...question, '--home', home]);
  if ('died' in ended || ended.code !== 0 || !remarks.test(ended.stderr))
    throw new Error(`${spell(question)}: ${JSON.stringify(ended)}`);
  return ended.stdout;
};

/** A home that is whole, and a copy of it. @throws Error if it does not list its histories */
export const openWhole = async (asker: Asker, home: string, asked: string): Promise<Whole> => {
  cpSync(home, asked, { recursive: true });
  const listed = await askWhole(asker, asked, ['histories', '--json']);
  const ids = new Map(
    (JSON.parse(listed) as { name: string; history: string }[]).map(({ name, history }) => [name, history]),
  );
  const snapshots = new Map<string, readonly Snapshot[]>();
  for (const name of ids.keys())
    snapshots.set(
      name,
      JSON.parse(await askWhole(asker, asked, ['snapshots', name, '--json'])) as readonly Snapshot[],
    );
  return {
    home,
    asked,
    answers: new Map(),
    ids,
    snapshots,
    entries: entriesOf(join(home, 'log/0/0000000000000000.seg')),
  };
};

/** Asks the whole home what it was not asked yet. @throws Error if it has no answer */
const learn = async (
  asker: Asker,
  { asked, answers }: Whole,
  questions: readonly Question[],
): Promise<void> => {
  for (const question of questions)
    if (!isOfNow(question) && !answers.has(spell(question)))
      answers.set(spell(question), await askWhole(asker, asked, question));
};

/** What is wrong with how the damaged home answers, and with what is left when the advice was taken; empty if nothing is. */
export const tryDamage = async (
  asker: Asker,
  whole: Whole,
  copy: string,
  damage: Damage,
  random: () => number,
  most: number,
  questions: readonly Question[] = QUESTIONS,
): Promise<readonly string[]> => {
  const wrong: string[] = [];
  const blame = (what: string, why: string, ended: Ended): void => {
    const said = 'died' in ended ? ended.died : `${ended.code}: ${ended.stderr.slice(0, 400)}`;
    wrong.push(`${damage.file} ${damage.how} at ${damage.at}: ${what}: ${why} (${said})`);
  };
  const at = ['--home', copy];
  const ask = async (line: readonly string[], why = 'it died'): Promise<Run | null> => {
    const ended = await asker.ask([...line, ...at]);
    if (!('died' in ended) && !/E_INTERNAL|internal error/.test(ended.stderr)) return ended;
    blame(spell(line), why, ended);
    return null;
  };
  const hold = async (directory: string | null): Promise<void> => asker.hold?.(directory);
  const lost = lossOf(whole, damage);
  damagedCopy(whole.home, copy, damage);
  try {
    // The first command finds the damage as it is, so it is another one each time.
    const written: string[] = [];
    const lines = pick(questions, random, most);
    const later = pick(questions, random, most);
    await learn(asker, whole, [...lines, ...later]);
    if (random() < 0.3) lines.splice(Math.floor(random() * lines.length), 0, WRITE);
    await hold(copy);
    for (const line of lines) {
      const ended = await ask(line);
      if (ended === null) continue;
      const fault = line === WRITE ? refusalFault(ended) : answerFault(line, ended, whole, lost);
      if (fault !== null) blame(spell(line), fault, ended);
      if (line === WRITE && ended.code === 0) written.push(WROTE);
    }
    await takeAdvice({ asker, ask, hold, whole, copy, damage, lost, blame, random, written, later });
  } finally {
    await hold(null);
    rmSync(copy, { recursive: true, force: true });
  }
  return wrong;
};

const WROTE = 'said after the damage';
const WRITE: Question = ['inject', WRITTEN_TO, WROTE];

/** What a file is for: the log, the contents, or what can be made again. */
type Kind = 'log' | 'contents' | 'id' | 'key' | 'disposable';

const kindOf = (file: string): Kind => {
  if (file.endsWith('.seg')) return 'log';
  if (file === join('log', 'id')) return 'id';
  if (file.startsWith('keys') || file === 'checkpoint.key' || file === 'redact.json') return 'key';
  return file.startsWith('contents') ? 'contents' : 'disposable';
};

/** What a damage takes from a home for good. */
type Loss = {
  readonly kind: Kind;
  /** The histories whose frames it touches, by id, each with the first of those frames. */
  readonly touched: ReadonlyMap<string, number>;
};

const lossOf = ({ entries }: Whole, damage: Damage): Loss => {
  const kind = kindOf(damage.file);
  return { kind, touched: kind === 'log' ? touchedBy(entries, damage) : new Map() };
};

/** As if nothing was damaged. */
const WHOLE: Loss = { kind: 'disposable', touched: new Map() };

/** The history that a question names; undefined if it is about all of them, as a search for a word that is a name, too. */
const subjectOf = (question: Question): string | undefined =>
  question[0] === 'grep'
    ? undefined
    : question.find((word) => (HISTORIES as readonly string[]).includes(word));

const pick = <T>(list: readonly T[], random: () => number, most: number): T[] => {
  const left = [...list];
  return Array.from({ length: Math.min(most, left.length) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
};

const DAMAGE_WORDS =
  /damage|closed|lost|missing|gone|defective|put aside|built again|rebuilt|not the log|another|sealed|key|redact\.json/i;

/** A record that may have been of any history, and closes all of them. */
const ALL = /\b\d+@\d+\b|\bpartition\b/;

const refusalFault = ({ code, stderr }: Run): string | null => {
  if (code === 0) return null;
  if (!/\(E_[A-Z_]+\)/.test(stderr)) return 'it fails without a code';
  return DAMAGE_WORDS.test(stderr) ? null : 'it fails and does not say of what';
};

const answerFault = (question: Question, run: Run, whole: Whole, lost: Loss): string | null => {
  // `doctor` says what it finds as its answer.
  if (isOfNow(question) && run.code === 5)
    return DAMAGE_WORDS.test(run.stdout + run.stderr) ? null : 'it finds nothing';
  // So does the list of histories where damage hides every one.
  const hidesAll = [...whole.ids.values()].every((id) => lost.touched.get(id) === 0);
  if (question[0] === 'histories' && run.code === 5 && hidesAll && /^\[\]\s*$/.test(run.stdout))
    return DAMAGE_WORDS.test(run.stderr) ? null : 'it does not say what hides the histories';
  if (findsNothing(question, run) && lost.kind === 'log')
    return DAMAGE_WORDS.test(run.stderr) ? null : 'it finds nothing, without a word';
  if (run.code !== 0) return refusalFault(run);
  if (isOfNow(question) || isAsBefore(question, run, whole)) return null;
  if (isFixed(question)) return 'the answer is another';
  if (lost.kind === 'disposable') return 'the answer is another, though the log is whole';
  if (!DAMAGE_WORDS.test(run.stderr)) return 'the answer is another, without a word';
  if (lost.kind !== 'log') return null;
  const subject = subjectOf(question);
  if (subject === undefined) return null;
  const first = lost.touched.get(whole.ids.get(subject) ?? '');
  if (first === undefined) return 'the answer is another, though nothing of this history is damaged';
  if (
    ![subject, whole.ids.get(subject) ?? ''].some((word) => run.stderr.includes(word)) &&
    !ALL.test(run.stderr)
  )
    return 'the answer is another, and what is said is of other histories';
  return question[0] === 'log' ? logFault(whole.answers.get(spell(question)) ?? '', run.stdout, first) : null;
};

/** Who looks for a text exits with 1 where there is none. */
const findsNothing = (question: Question, { code, stderr }: Run): boolean =>
  question[0] === 'grep' && code === 1 && !stderr.startsWith('stemma: ');

/** The log of a damaged history is what was recorded, as far as the first frame that is damaged at least. */
const logFault = (before: string, now: string, first: number): string | null => {
  const [lines, recorded] = [now, before].map((text) => text.split('\n').filter((line) => line !== ''));
  if (lines === undefined || recorded === undefined) return null;
  if (lines.some((line, i) => line !== recorded[i])) return 'it shows what was not recorded';
  const next = recorded[lines.length] ?? '';
  return Number(next.split('.')[0]) < first ? 'it lacks frames before the damage' : null;
};

/** What was written meanwhile stands in one history, of which only the list of histories tells. */
const isAsBefore = (question: Question, { stdout }: Run, { answers }: Whole): boolean => {
  const before = answers.get(spell(question)) ?? '';
  if (question[0] !== 'histories' || stdout === '') return stdout === before;
  const others = (text: string): unknown =>
    (JSON.parse(text) as { name: string }[])
      .filter(({ name }) => name !== WRITTEN_TO)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return JSON.stringify(others(stdout)) === JSON.stringify(others(before));
};

type Advice = {
  readonly asker: Asker;
  readonly hold: (directory: string | null) => Promise<void>;
  readonly ask: (line: readonly string[], why?: string) => Promise<Run | null>;
  readonly whole: Whole;
  readonly copy: string;
  readonly damage: Damage;
  readonly lost: Loss;
  readonly blame: (what: string, why: string, ended: Ended) => void;
  readonly random: () => number;
  readonly written: readonly string[];
  /** What is asked after the advice was taken. */
  readonly later: readonly Question[];
};

/** Does what the errors advise, then compares with all that the log still holds. */
const takeAdvice = async (given: Advice): Promise<void> => {
  const { ask, asker, hold, whole, copy, damage, lost, blame, written } = given;
  const { kind, touched } = lost;
  const verified = await ask(['verify', '--rows']);
  if (verified === null) return;
  if (verified.code !== 0 && verified.code !== 5 && !/\(E_[A-Z_]+\)/.test(verified.stderr))
    blame('verify', 'it fails without a code', verified);
  const untouched = (name: string): boolean => !touched.has(whole.ids.get(name) ?? '');
  if (kind === 'log' && touched.size > 0 && verified.code === 0 && damage.at < sizeOf(whole, damage))
    blame('verify', 'it finds nothing', verified);
  if (kind === 'contents' && damage.how !== 'missing' && verified.code === 0)
    blame('verify', 'it finds nothing', verified);
  const examined = await ask(['doctor']);
  if (kind === 'log' && verified.code === 5 && examined?.code === 0 && !DAMAGE_WORDS.test(examined.stdout))
    blame('doctor', 'it finds nothing, and verify does', examined);
  const gone = /E_LOG_GONE|E_LOG_MISMATCH|E_IO/.test(verified.stderr);
  const lostRecords: string[] = [];
  // Nobody has it open while files are put back, and what follows begins with the home as it is then.
  await hold(null);
  if (kind === 'contents' || kind === 'id' || kind === 'key' || gone) restore(whole.home, copy, damage);
  else if (kind === 'log') {
    await hold(copy);
    for (let tries = 0; tries < 40; tries++) {
      const closed = await ask(['histories']);
      const record = /`?stemma ack (\d+@\d+)/.exec(closed?.stderr ?? '')?.[1];
      if (record === undefined) break;
      const acknowledged = await ask(['ack', record, '--yes']);
      if (acknowledged?.code !== 0 && acknowledged !== null) {
        blame(`ack ${record}`, 'the advice does not work', acknowledged);
        break;
      }
      lostRecords.push(record);
    }
  }
  await hold(copy);
  // Rows that were built again already, and of which `verify --rows` has looked at each, need no replay: to try it with each of
  // these damages would only cost time.
  const replays = kind !== 'disposable' || verified.code !== 0 || given.random() > 7 / 8;
  const replayed = replays ? await ask(['replay']) : null;
  if (replayed !== null && replayed.code !== 0) blame('replay', 'the advice does not work', replayed);
  const compared = replays ? await ask(['replay', '--verify']) : null;
  if (compared !== null && compared.code !== 0) blame('replay --verify', 'rows differ', compared);
  const again = replays ? await ask(['verify', '--rows']) : null;
  const isMended = kind !== 'log' || gone;
  const diagnosed = lostRecords.length === 0 ? '' : ((await ask(['doctor']))?.stdout ?? '');
  if (isMended && again !== null && again.code !== 0) blame('verify', 'the advice did not help', again);
  for (const question of given.later) {
    const ended = await ask(question);
    if (ended === null) continue;
    const about = subjectOf(question);
    const isWhole = isMended || (about !== undefined && untouched(about));
    if (!isWhole) {
      const first = touched.get(whole.ids.get(about ?? '') ?? '') ?? Infinity;
      // Of a history whose first frame is lost, and acknowledged to be, nothing is left to speak of.
      if (first === 0 && ended.stderr.includes('E_HISTORY_NOT_FOUND')) continue;
      // What was acknowledged is said by `doctor` and `verify`, and no longer beside every answer.
      const isSaid = lostRecords.some((record) => diagnosed.includes(record));
      const left = isOfNow(question) ? null : remainsFault(question, ended, whole, first);
      const isFine = ended.code === 0 || NOT_FOUND.test(ended.stderr) || findsNothing(question, ended);
      const fault =
        left ?? (isSaid && isFine && !isOfNow(question) ? null : answerFault(question, ended, whole, lost));
      if (fault !== null) blame(spell(question), `after the advice: ${fault}`, ended);
    } else if (ended.code !== 0 || answerFault(question, ended, whole, WHOLE) !== null)
      blame(spell(question), 'after the advice it is not served as before', ended);
  }
  for (const text of written) {
    const log = await ask(['log', WRITTEN_TO]);
    const isSaid = log?.stdout.includes(text) === true;
    if (!isSaid && log !== null && untouched(WRITTEN_TO)) blame('inject', 'acknowledged, and not there', log);
  }
  if (kind !== 'log' || gone) return;
  for (const [name, id] of whole.ids) {
    const seq = touched.get(id);
    if (seq === undefined || seq === 0 || damage.how === 'truncated') continue;
    const salvaged = await ask(['salvage', name, '--json']);
    if (salvaged === null) continue;
    if (salvaged.code !== 0) {
      // A history goes on after a loss that was acknowledged. One that has stopped can be salvaged.
      const isOpen = lostRecords.length > 0 && /E_NOTHING_TO_SALVAGE/.test(salvaged.stderr);
      if (!isOpen) blame(`salvage ${name}`, 'the advice does not work', salvaged);
      continue;
    }
    const { history } = JSON.parse(salvaged.stdout) as { history: string };
    // The new history begins with the last snapshot that was good; where there is none, with what was there.
    const newest = whole.snapshots.get(name)?.findLast((snapshot) => snapshot.seq < seq);
    const wanted = newest?.label ?? `@s${seq - 1}`;
    const good = await askWhole(asker, whole.asked, ['thread', name, wanted], /^(no call was made .*\n)?$/);
    const begins = await ask(['thread', history, '@t0']);
    if (begins !== null && (begins.code !== 0 || begins.stdout !== good))
      blame(`salvage ${name}`, 'it begins with something else', begins);
  }
};

/**
 * What a history that lost frames must still answer, from the first one lost: all about a position before it, and of its log what
 * comes before.
 */
const remainsFault = (
  question: Question,
  ended: Run,
  { answers, snapshots }: Whole,
  first: number,
): string | null => {
  const before = answers.get(spell(question)) ?? '';
  const isServed = ended.code === 0;
  if (isFixed(question)) {
    if (isServed) return ended.stdout === before ? null : 'the answer is another';
    return needed(question, snapshots) < first ? 'a position before the loss is not served' : null;
  }
  if (!isServed && needed(question, snapshots) < first && NOT_FOUND.test(ended.stderr))
    return 'what stands before the loss is not found';
  if (isServed && question[0] === 'log') return logFault(before, ended.stdout, first);
  return null;
};

const NOT_FOUND = /\((?:E_[A-Z]+_NOT_FOUND|E_CALL_BODY_NOT_KEPT)\)/;

/** The newest frame that a question needs: that of a snapshot it names, or what it is about. */
const needed = (question: Question, snapshots: Whole['snapshots']): number => {
  const known = NEEDED.get(question);
  if (known !== undefined) return known;
  const labels = question.flatMap((word) => /^@c\d+/.exec(word)?.[0] ?? []);
  const named = snapshots.get(subjectOf(question) ?? '')?.filter(({ label }) => labels.includes(label)) ?? [];
  return named.reduce((most, { seq }) => Math.max(most, seq), 0);
};

const sizeOf = ({ entries }: Whole, { file }: Damage): number =>
  basename(file).endsWith('.seg') && entries.length > 0 ? Infinity : 0;
