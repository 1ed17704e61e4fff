import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { texts } from '../texts.ts'
import { usePlace } from '../place.tsx'
import type { Choice } from './field.tsx'
import { fromLocalInput } from './moment.tsx'

/** How long a reader pauses in typing before it is searched for. */
const pauseMs = 300

/** On a phone the others are behind a button, which a rule of the styles counts as well: the list is not to begin below the fold. */
const shownInFront = 2

export interface Filter {
  /** The parameter of the API, and of the address. */
  name: string
  label: string
  kind: 'search' | 'text' | 'choice' | 'moment'
  choices?: Choice[]
  /** What the API is sent for a value of the address. */
  toQuery: (value: string) => string | undefined
}

const asIs = (value: string) => (value === '' ? undefined : value)

/** The value of a choice that does not narrow the list down. */
export const any = 'any'

/** Words to search for. */
export const search = (label: string = texts.list.search): Filter => ({
  name: 'q',
  label,
  kind: 'search',
  toQuery: asIs,
})

/** A word that has to be exactly that. */
export const exact = (name: string, label: string): Filter => ({ name, label, kind: 'text', toQuery: asIs })

/** One of several; the first choice is sent where none was made, unless it is empty. */
export const choice = (name: string, label: string, choices: Choice[]): Filter => ({
  name,
  label,
  kind: 'choice',
  choices,
  toQuery: value => {
    const chosen = value === '' ? choices[0]!.value : value
    return chosen === any ? undefined : asIs(chosen)
  },
})

/** A time in the clock of this browser. */
export const moment = (name: string, label: string): Filter => ({
  name,
  label,
  kind: 'moment',
  toQuery: value => (Number.isNaN(Date.parse(value)) ? undefined : fromLocalInput(value)),
})

/** Whether trashed items are listed: what lists with a trash share. */
export const trash = choice('trashed', texts.list.trash, [
  { value: 'false', title: texts.list.present },
  { value: 'true', title: texts.list.onlyTrash },
])

/** What the API is asked for by the filters of the address. */
export function useChosen(filters: Filter[]): Record<string, string | undefined> {
  const { query } = usePlace()
  return Object.fromEntries(filters.map(({ name, toQuery }) => [name, toQuery(query.get(name) ?? '')]))
}

/** The bar above a list: what narrows it down, each of them in the address, and what else can be done there. */
export function Toolbar({ filters, children }: { filters: Filter[]; children?: ComponentChildren }) {
  const { query } = usePlace()
  const rest = filters.slice(shownInFront)
  // Not hidden is what narrows the list down already.
  const [isOpen, setOpen] = useState(() => rest.some(({ name }) => query.has(name)))
  return (
    <div class="toolbar">
      <div class={isOpen ? 'filters is-open' : 'filters'} role="search">
        {filters.map(filter => (
          <FilterControl key={filter.name} filter={filter} />
        ))}
        {rest.length > 0 && (
          <button type="button" class="button small more" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {isOpen ? texts.list.fewer : texts.list.more}
          </button>
        )}
      </div>
      {children}
    </div>
  )
}

function FilterControl({ filter: { name, label, kind, choices = [] } }: { filter: Filter }) {
  const place = usePlace()
  const value = place.query.get(name) ?? ''
  const timer = useRef(0)
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => () => window.clearTimeout(timer.current), [])
  useEffect(() => {
    // Steps of the browser's history change it; what is being typed is newer than the address.
    if (input.current !== null && input.current !== document.activeElement) input.current.value = value
  }, [value])
  const change = (to: string, isReplacing = false) => place.filter({ [name]: to, skip: undefined }, { isReplacing })

  const onInput = (event: Event) => {
    const text = (event.currentTarget as HTMLInputElement).value
    window.clearTimeout(timer.current)
    timer.current = window.setTimeout(() => change(text, true), pauseMs)
  }
  const type = kind === 'moment' ? 'datetime-local' : kind === 'search' ? 'search' : 'text'
  return (
    <label class={kind === 'search' ? 'filter wide' : 'filter'}>
      <span>{label}</span>
      {kind === 'choice' ? (
        <select name={name} onChange={event => change(event.currentTarget.value)}>
          {choices.map((choice, index) => {
            const inAddress = index === 0 ? '' : choice.value
            return (
              <option key={choice.value} value={inAddress} selected={inAddress === value}>
                {choice.title}
              </option>
            )
          })}
        </select>
      ) : (
        <input
          ref={input}
          name={name}
          // Preact's types tell apart which type has which role; all of these have the one that they have without it.
          type={type as 'text'}
          defaultValue={value}
          autocomplete="off"
          onInput={onInput}
        />
      )}
    </label>
  )
}
