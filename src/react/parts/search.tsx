import { useId, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react'
import { useSearch, type SearchHit, type SearchQuestion } from '../hooks/search.ts'
import { Avatar } from './base/avatar.tsx'
import { Icon } from './base/icon.tsx'
import { LoadMore } from './base/state.tsx'
import { useTexts } from './base/texts.tsx'
import { ShortTime } from './base/time.tsx'

export interface SearchProps {
  /** Goes to what was found. */
  onOpen: (hit: SearchHit) => void
  onClose: () => void
  /** What narrows the search, such as `{ in: ['files'] }`. */
  only?: Omit<SearchQuestion, 'q'>
}

/** A search over everything that the user may see, in a dialog: arrow keys choose, Enter opens, Escape closes. */
export function Search({ onOpen, onClose, only }: SearchProps) {
  const texts = useTexts()
  const [q, type] = useState('')
  const [chosen, choose] = useState(0)
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const list = useSearch({ ...only, q })
  const hits = list.data
  const active = Math.min(chosen, hits.length - 1)
  useLayoutEffect(() => {
    const { current } = dialog
    current?.showModal()
    // What had the focus has it again.
    return () => current?.close()
  }, [])
  const open = (hit: SearchHit | undefined) => {
    if (hit === undefined || list.isPrevious) return
    onClose()
    onOpen(hit)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, nativeEvent } = event
    if (nativeEvent.isComposing) return
    if (key === 'Enter') open(hits[active])
    else if (key === 'ArrowDown' || key === 'ArrowUp') {
      const next = Math.max(0, Math.min(hits.length - 1, active + (key === 'ArrowDown' ? 1 : -1)))
      choose(next)
      dialog.current?.querySelectorAll('[role=option]')[next]?.scrollIntoView({ block: 'nearest' })
      if (next === hits.length - 1) void list.loadMore()
    } else return
    event.preventDefault()
  }
  return (
    <dialog
      ref={dialog}
      className="pl-search"
      aria-label={texts.search}
      onCancel={event => {
        event.preventDefault()
        onClose()
      }}
      onClick={({ target, currentTarget }) => target === currentTarget && onClose()}
    >
      <div className="pl-line">
        <Icon name="search" />
        <input
          enterKeyHint="search"
          value={q}
          autoFocus
          role="combobox"
          aria-label={texts.search}
          placeholder={texts.search}
          aria-autocomplete="list"
          aria-expanded={hits.length > 0}
          aria-controls={id}
          aria-activedescendant={hits.length > 0 ? `${id}-${active}` : undefined}
          onChange={({ target }) => {
            type(target.value)
            choose(0)
          }}
          onKeyDown={onKeyDown}
        />
        <button type="button" className="pl-icon-button" aria-label={texts.close} title={texts.close} onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <ul id={id} role="listbox" aria-label={texts.found} data-previous={list.isPrevious || undefined}>
        {hits.map((hit, at) => (
          <li
            key={`${hit.type} ${hit.id}`}
            id={`${id}-${at}`}
            role="option"
            aria-selected={at === active}
            onClick={() => open(hit)}
          >
            <Hit hit={hit} />
          </li>
        ))}
      </ul>
      <LoadMore of={list} label={texts.showMore} />
      <p className="pl-muted" role="status">
        {list.error?.message ?? (q.trim() !== '' && list.status === 'live' ? texts.foundCount(hits.length) : '')}
      </p>
    </dialog>
  )
}

/** What was found, with the words marked, and where it is. */
export function Hit({ hit: { type, name, snippet, app, created_by: by, created_at, place } }: { hit: SearchHit }) {
  const texts = useTexts()
  const shown = by ?? { name: name ?? '' }
  const where = [texts.kinds[type], place, type === 'app' ? undefined : app?.name].filter(Boolean).join(' · ')
  return (
    <>
      <Avatar of={type === 'app' ? { name: name ?? texts.untitled } : shown} />
      <span className="pl-conversation">
        <span className="pl-preview">
          <Marked {...snippet} />
        </span>
        <span className="pl-line pl-muted">
          <span>{where}</span>
          {created_at !== undefined && <ShortTime time={created_at} />}
        </span>
      </span>
    </>
  )
}

function Marked({ text, marks = [] }: SearchHit['snippet']) {
  return (
    <>
      {marks.map(({ start, end }, at) => (
        <span key={start}>
          {text.slice(marks[at - 1]?.end ?? 0, start)}
          <mark>{text.slice(start, end)}</mark>
        </span>
      ))}
      {text.slice(marks.at(-1)?.end ?? 0)}
    </>
  )
}
