import type { AnswerOf, InputOf, QUESTIONS } from '@stemma/api';
import type { Home } from '@stemma/home';
import type { DoctorReport, SignedLog } from '@stemma/operations';
import type { PathHider } from './hide-paths.ts';
import type { Previews } from './preview.ts';
import type { SnapshotPages } from './snapshot-page.ts';
import type { TreeCache } from './tree-cache.ts';

/** What an answer may read: a home, and what is kept between answers. */
export type AnswerSources = {
  readonly home: Home;
  readonly previews: Previews;
  readonly trees: TreeCache;
  readonly snapshotPages: SnapshotPages;
  /** The report of the doctor, made once for all who ask at about one time. */
  readonly examine: () => Promise<DoctorReport>;
  /** The signed log, likewise. */
  readonly signed: () => Promise<SignedLog>;
  readonly hider: PathHider;
};

type Contracts = typeof QUESTIONS;

/** Questions whose answers are known whole. */
export type WholeQuestion = {
  [Name in keyof Contracts]: Contracts[Name] extends { readonly streamed: true } ? never : Name;
}[keyof Contracts];

/** What answers one question. @throws coded errors of its contract */
export type ContractAnswer<Name extends WholeQuestion> = (
  reading: AnswerSources,
  input: InputOf<Contracts[Name]>,
) => Promise<AnswerOf<Contracts[Name]>>;

export type AnswerCatalogue = { readonly [Name in WholeQuestion]: ContractAnswer<Name> };
