import { useId, useRef, useState, type ClipboardEvent, type DragEvent, type KeyboardEvent } from 'react'
import type { ContentDraft, Member } from '@parley/client'
import { useParley } from '../../hooks/context.tsx'
import { useSend, type AppRef } from '../../hooks/items.ts'
import { useMembers, useTyping } from '../../hooks/people.ts'
import { storeOf } from '../../hooks/store.ts'
import { Icon } from '../base/icon.tsx'
import { useTexts } from '../base/texts.tsx'
import { toNaming, toOffered, withMentions } from './mentions.ts'
import { MentionList } from './mention-list.tsx'
import { useFileChooser } from './file-chooser.tsx'
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
}

/** Where something is written: Enter sends, Shift+Enter begins a line, @ mentions, files are chosen, pasted or dropped. */
export function Composer({ app, onSend, label, button, draft = `app ${app}` }: ComposerProps) {
  // One for each draft, so that nothing goes to the wrong place.
  return <Field key={draft} {...{ app, onSend, label, button, draft }} />
}

interface Kept {
  text: string
  chosen: readonly Member[]
}

interface FieldProps {
  app: AppRef
  onSend: ComposerProps['onSend']
  label: string | undefined
  button: string | undefined
  draft: string
}

function Field({ app, onSend, label, button, draft }: FieldProps) {
  const texts = useTexts()
  const parley = useParley()
  const kept = storeOf<Kept>(parley, `draft ${draft}`, () => ({ text: '', chosen: [] }))
  const [{ text, chosen }, set] = useState<Kept>({ text: kept.text, chosen: kept.chosen })
  const [caret, setCaret] = useState(0)
  const [active, setActive] = useState(0)
  const [isDismissed, dismiss] = useState(false)
  const [isOver, setOver] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const listId = useId()
  const uploads = useUploads()
  const chooser = useFileChooser(uploads)
  const members = useMembers(app)
  const { type } = useTyping(app)
  const { send: sendMessage } = useSend(app)
  const naming = isDismissed ? undefined : toNaming(text, caret)
  const offered = toOffered(members.data, naming)
  const blobs = uploads.list.flatMap(({ blob }) => blob ?? [])
  const isReady = app !== undefined && !uploads.isBusy && (text.trim() !== '' || blobs.length > 0)

  const change = (next: Kept) => {
    Object.assign(kept, next)
    set(next)
  }
  const send = () => {
    if (!isReady) return
    const written = { text: withMentions(text.trim(), chosen), ...(blobs.length > 0 && { blobs }) }
    if (onSend === undefined) void sendMessage(written)
    else onSend(written)
    change({ text: '', chosen: [] })
    uploads.clear()
    field.current?.focus()
  }
  const choose = (member: Member) => {
    const { current: area } = field
    if (area === null) return
    // In the field itself, at once: a caret that is set after the next render would go back behind what was typed meanwhile.
    area.setRangeText(`@${member.name} `, naming!.start, caret, 'end')
    area.focus()
    setCaret(area.selectionStart)
    change({ text: area.value, chosen: [...chosen, member] })
    dismiss(true)
    setActive(0)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, shiftKey, nativeEvent } = event
    if (nativeEvent.isComposing) return
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
        <button
          type="button"
          className="pl-icon-button"
          aria-label={texts.attach}
          title={texts.attach}
          onClick={chooser.open}
        >
          <Icon name="attach" />
        </button>
        {chooser.input}
        <textarea
          ref={field}
          rows={1}
          value={text}
          placeholder={label ?? texts.write}
          aria-label={label ?? texts.write}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={listId}
          aria-activedescendant={offered.length > 0 ? `${listId}-${offered[active]?.id}` : undefined}
          onChange={event => {
            change({ text: event.target.value, chosen })
            setCaret(event.target.selectionStart)
            setActive(0)
            dismiss(false)
            if (event.target.value !== '') type()
          }}
          onSelect={event => setCaret(event.currentTarget.selectionStart)}
          onKeyDown={onKeyDown}
          onPaste={event => take(event, event.clipboardData.files)}
        />
        <button type="submit" className="pl-primary" disabled={!isReady}>
          {button ?? texts.send}
        </button>
        <MentionList id={listId} offered={offered} active={active} onChoose={choose} />
      </div>
      {isOver && <p className="pl-drop">{texts.dropHere}</p>}
    </form>
  )
}
