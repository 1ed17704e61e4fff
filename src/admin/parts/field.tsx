import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { useFieldErrors } from './form.tsx'

interface FieldProps {
  name: string
  label: string
  hint?: string
  isRequired?: boolean
}

interface TextFieldProps extends FieldProps {
  value?: string | undefined
  type?: 'text' | 'url' | 'email' | 'number' | 'password' | 'datetime-local'
  placeholder?: string
  autocomplete?: string
}

/** A line of text. */
export function TextField({ value = '', type = 'text', placeholder, autocomplete = 'off', ...field }: TextFieldProps) {
  return (
    <Labelled {...field}>
      {props => (
        <input
          {...props}
          // Preact's types tell apart which type has which role; all of these have the one that they have without it.
          type={type as 'text'}
          defaultValue={value}
          placeholder={placeholder}
          autocomplete={autocomplete}
        />
      )}
    </Labelled>
  )
}

/** Lines of text; with `isCode` of a program. */
export function AreaField({
  value = '',
  rows = 4,
  isCode = false,
  ...field
}: FieldProps & { value?: string | undefined; rows?: number; isCode?: boolean }) {
  return (
    <Labelled {...field}>
      {props => (
        <textarea {...props} class={isCode ? 'code' : ''} rows={rows} defaultValue={value} spellcheck={!isCode} />
      )}
    </Labelled>
  )
}

export interface Choice {
  value: string
  title: string
}

/** One of several. */
export function ChoiceField({
  choices,
  value,
  ...field
}: FieldProps & { choices: Choice[]; value?: string | undefined }) {
  return (
    <Labelled {...field}>
      {props => (
        <select {...props}>
          {choices.map(choice => (
            <option key={choice.value} value={choice.value} selected={choice.value === value}>
              {choice.title}
            </option>
          ))}
        </select>
      )}
    </Labelled>
  )
}

/** Something that is so or not. */
export function CheckField({ name, label, hint, isOn = false }: FieldProps & { isOn?: boolean }) {
  return (
    <label class="check">
      <input type="checkbox" name={name} defaultChecked={isOn} />
      <span>
        {label}
        {hint && <span class="muted small block">{hint}</span>}
      </span>
    </label>
  )
}

/** Any of several, each of which is a value of the same name. */
export function ChecksField({ name, label, choices, value }: FieldProps & { choices: Choice[]; value: string[] }) {
  const errors = useFieldErrors(name)
  return (
    <fieldset class="field">
      <legend class="field-label">{label}</legend>
      <div class="checks">
        {choices.map(choice => (
          <label class="check" key={choice.value}>
            <input type="checkbox" name={name} value={choice.value} defaultChecked={value.includes(choice.value)} />
            <span>{choice.title}</span>
          </label>
        ))}
      </div>
      {errors.length > 0 && <span class="field-error">{errors.join(' ')}</span>}
    </fieldset>
  )
}

interface ControlProps {
  id: string
  name: string
  required: boolean
  'aria-invalid': boolean
  'aria-describedby': string
}

function Labelled({
  name,
  label,
  hint,
  isRequired = false,
  children,
}: FieldProps & { children: (props: ControlProps) => ComponentChildren }) {
  const id = useId()
  const errors = useFieldErrors(name)
  const hintId = `${id}-hint`
  return (
    <div class="field">
      <label class="field-label" for={id}>
        {label}
      </label>
      {children({
        id,
        name,
        required: isRequired,
        'aria-invalid': errors.length > 0,
        'aria-describedby': hintId,
      })}
      <span id={hintId} class={errors.length > 0 ? 'field-error' : 'muted small'}>
        {errors.length > 0 ? errors.join(' ') : hint}
      </span>
    </div>
  )
}
