import { useId, useRef, useState, type ClipboardEvent, type DragEvent, type KeyboardEvent } from 'react'
import type { ContentDraft, Member } from '@parley/client'
import { useSend, type AppRef } from '../../hooks/items.ts'
import { useTyping } from '../../hooks/people.ts'
import { useTexts } from '../base/texts.tsx'
import { ComposerTools } from './composer-tools.tsx'
import { toContent, useDraft } from './draft.ts'
import { takeMarkdownKey } from './markdown-keys.ts'
import { toNaming } from './mentions.ts'
import { useOffered } from './offered.ts'
import { MentionList } from './mention-list.tsx'
import { PollFields } from './poll-fields.tsx'
import { typeOver } from './typed.ts'
import { UploadList } from './upload-list.tsx'
import { useUploads } from './uploads.ts'

export interface ComposerProps {
  app: AppRef
  /** What is done with what was written; default: it is sent as a message. */
  onSend?: (draft: ContentDraft) => void
  /** How the field is called; default: "Write a message". */
  label?: string
  /** The text of the button; default: "Send". */
  button?: string
  /** Names what is kept of an unfinished text; default: one for each app. */
  draft?: string
  /** Whether polls can be made; default: true. */
  hasPolls?: boolean
}

/**
 * Where something is written: Enter sends, Shift+Enter begins a line, @ mentions, Ctrl or Cmd with B, I, E and K is
 * Markdown, files are chosen, pasted or dropped.
 */
export function Composer(props: ComposerProps) {
  const { draft = `app ${props.app}` } = props
  // One for each draft, so that nothing goes to the wrong place.
  return <Field key={draft} {...props} draft={draft} />
}

function Field({ app, onSend, label, button, draft: name, hasPolls = true }: ComposerProps & { draft: string }) {
  const texts = useTexts()
  const [draft, change, clear] = useDraft(name)
  const [caret, setCaret] = useState(0)
  const [active, setActive] = useState(0)
  const [isDismissed, dismiss] = useState(false)
  const [isOver, setOver] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const listId = useId()
  const uploads = useUploads()
  const { type } = useTyping(app)
  const { send: sendMessage } = useSend(app)
  const { text, chosen, options } = draft
  const naming = isDismissed ? undefined : toNaming(text, caret)
  const offered = useOffered(app, naming)
  const blobs = uploads.list.flatMap(({ blob }) => blob ?? [])
  const content = app === undefined || uploads.isBusy ? undefined : toContent(draft, blobs)

  /** What a poll has not got yet: its question, or an option. */
  const toMissing = () => {
    const { current: area } = field
    if (options === undefined || text.trim() === '') area?.focus()
    else area?.form?.querySelector<HTMLInputElement>('fieldset input:placeholder-shown')?.focus()
  }
  const send = () => {
    if (content === undefined) return toMissing()
    if (onSend === undefined) void sendMessage(content)
    else onSend(content)
    clear()
    uploads.clear()
    field.current?.focus()
  }
  const makePoll = () => {
    change({ options: ['', ''] })
    field.current?.focus()
  }
  const choose = (member: Member) => {
    typeOver(field.current!, naming!.start, caret, `@${member.name} `)
    change({ chosen: [...chosen, member] })
    dismiss(true)
  }
  const insert = (text: string) => {
    const { current: area } = field
    if (area !== null) typeOver(area, area.selectionStart, area.selectionEnd, text)
  }
  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    const { key, shiftKey, nativeEvent } = event
    if (nativeEvent.isComposing || takeMarkdownKey(event)) return
    if (offered.length > 0) {
      if (key === 'ArrowDown' || key === 'ArrowUp') {
        event.preventDefault()
        return setActive((active + (key === 'ArrowDown' ? 1 : offered.length - 1)) % offered.length)
      }
      if (key === 'Enter' || key === 'Tab') {
        event.preventDefault()
        return choose(offered[active] ?? offered[0]!)
      }
      if (key === 'Escape') return dismiss(true)
    }
    if (key === 'Enter' && !shiftKey) {
      event.preventDefault()
      send()
    }
  }
  const take = (event: ClipboardEvent | DragEvent, files: FileList) => {
    if (files.length === 0) return
    event.preventDefault()
    uploads.add(files)
  }
  return (
    <form
      className="pl-composer"
      data-over={isOver || undefined}
      onSubmit={event => {
        event.preventDefault()
        send()
      }}
      onDragOver={event => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={event => {
        setOver(false)
        take(event, event.dataTransfer.files)
      }}
    >
      <UploadList uploads={uploads} />
      <div className="pl-field">
        <ComposerTools
          uploads={uploads}
          onEmoji={insert}
          onPoll={hasPolls && options === undefined ? makePoll : undefined}
        />
        <textarea
          ref={field}
          rows={1}
          value={text}
          placeholder={options === undefined ? (label ?? texts.write) : texts.question}
          aria-label={options === undefined ? (label ?? texts.write) : texts.question}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={listId}
          aria-activedescendant={offered.length > 0 ? `${listId}-${offered[active]?.id}` : undefined}
          onChange={event => {
            change({ text: event.target.value })
            setCaret(event.target.selectionStart)
            setActive(0)
            dismiss(false)
            if (event.target.value !== '') type()
          }}
          onSelect={event => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={event => take(event, event.clipboardData.files)}
        />
        <button type="submit" className="pl-primary" disabled={content === undefined}>
          {button ?? texts.send}
        </button>
        <MentionList id={listId} offered={offered} active={active} onChoose={choose} />
      </div>
      {options !== undefined && (
        <PollFields
          options={options}
          onChange={options => change({ options })}
          onDone={send}
          onClose={() => {
            change({ options: undefined })
            field.current?.focus()
          }}
        />
      )}
      {isOver && <p className="pl-drop">{texts.dropHere}</p>}
    </form>
  )
}
