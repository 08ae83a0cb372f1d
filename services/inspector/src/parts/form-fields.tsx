import type { ComponentChildren } from 'preact';
import { visible } from './safe-text.tsx';
import type { Fields } from '../interventions/intervention-request.ts';

type LineProps = {
  readonly label: string;
  readonly name: string;
  readonly fields: Fields;
  readonly set: (name: string, value: string) => void;
};

export const Line = ({
  label,
  name,
  fields,
  set,
  isNumber = false,
  placeholder = '',
  ...more
}: LineProps & {
  readonly isNumber?: boolean;
  readonly placeholder?: string;
  readonly required?: boolean;
}): ComponentChildren => (
  <label>
    <span>{label}</span>
    <input
      {...more}
      placeholder={visible(placeholder)}
      inputMode={isNumber ? 'numeric' : 'text'}
      name={name}
      value={fields[name] ?? ''}
      onInput={({ currentTarget }) => set(name, currentTarget.value)}
    />
  </label>
);

export const Area = ({ label, name, fields, set }: LineProps): ComponentChildren => (
  <label>
    <span>{label}</span>
    <textarea
      autofocus
      rows={5}
      name={name}
      value={fields[name] ?? ''}
      onInput={({ currentTarget }) => set(name, currentTarget.value)}
    />
  </label>
);

/** @param otherwise what is chosen until somebody chooses */
export const Choice = ({
  label,
  name,
  fields,
  set,
  otherwise = '',
  choices,
}: LineProps & {
  readonly otherwise?: string;
  readonly choices: readonly (readonly [value: string, words: string])[];
}): ComponentChildren => (
  <label>
    <span>{label}</span>
    <select
      name={name}
      value={fields[name] ?? otherwise}
      onChange={({ currentTarget }) => set(name, currentTarget.value)}
    >
      {choices.map(([one, words]) => (
        <option key={one} value={one}>
          {visible(words)}
        </option>
      ))}
    </select>
  </label>
);
