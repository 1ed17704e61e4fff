import { useEffect, useRef, useState, type ComponentType, type KeyboardEvent, type ReactNode } from 'react'
import { useMessages, type AppRef } from '../../hooks/items.ts'
import { useMe } from '../base/me.ts'
import { ListState, StaleNote } from '../base/state.tsx'
import { Icon } from '../base/icon.tsx'
import { useTexts } from '../base/texts.tsx'
import { AgentDrafts } from './agent-drafts.tsx'
import { toChunks, type Chunk } from './chunk.ts'
import { MessageChunk } from './message-chunk.tsx'
import { MessageRow, type MessageRowProps } from './message-row.tsx'
import { Nearness } from './nearness.ts'
import { useNear, useScroll } from './scroll.ts'
import { TypingLine } from './typing-line.tsx'
import { useReading } from './unread.ts'

export interface MessagesProps {
  app: AppRef
  /** Shows one message, in place of `MessageRow`. Keep it the same component between renders. */
  Row?: ComponentType<MessageRowProps>
  /** What an empty chat shows. */
  empty?: ReactNode
  /** How the list is called; default: "Messages". */
  label?: string
}

/** The chunks that fill a screen. */
const chunksAtFirst = 3

/** The messages of a chat: the newest ones first, older ones as they are scrolled to. */
export function Messages({ app, Row = MessageRow, empty, label }: MessagesProps) {
  const texts = useTexts()
  const me = useMe()
  const list = useMessages(app)
  const box = useRef<HTMLDivElement>(null)
  const top = useRef<HTMLDivElement>(null)
  const [nearness] = useState(() => new Nearness(box))
  const { isAtEnd, toEnd } = useScroll(box)
  useNear(box, top, list.hasMore && !list.isLoadingMore, () => void list.loadMore())
  const unread = useReading(app, list.isPrevious ? [] : list.data, isAtEnd, me)
  const chunks = useChunks(list.data)
  useToEndOf(app, list.data.at(-1)?.key, list.data.at(-1)?.id === undefined, toEnd)
  return (
    <section className="pl-messages" data-status={list.status}>
      <StaleNote of={list} />
      <div
        ref={box}
        className="pl-scroll"
        role="log"
        // Rows that are scrolled to are no news.
        aria-live={isAtEnd ? 'polite' : 'off'}
        aria-label={label ?? texts.messages}
        aria-busy={app !== undefined && (list.isPrevious || list.status === 'loading')}
        tabIndex={0}
        onKeyDown={moveFocus}
      >
        <div className="pl-rows" data-previous={list.isPrevious || undefined}>
          <div ref={top} className="pl-more">
            {list.isLoadingMore && texts.loading}
          </div>
          {app === undefined ? (
            <p className="pl-state">{texts.choose}</p>
          ) : (
            <ListState of={list} isEmpty={list.data.length === 0} empty={empty ?? texts.noMessages} />
          )}
          {chunks.map((chunk, index) => (
            <MessageChunk
              key={chunk.key}
              chunk={chunk}
              before={chunks[index - 1]?.rows.at(-1)}
              unread={unread !== undefined && chunk.rows.some(({ key }) => key === unread) ? unread : undefined}
              actions={list.actions!}
              me={me}
              Row={Row}
              nearness={nearness}
              startsNear={index >= chunks.length - chunksAtFirst}
              isLast={index === chunks.length - 1}
            />
          ))}
          <AgentDrafts app={app} />
        </div>
      </div>
      {!isAtEnd && (
        <button
          type="button"
          className="pl-jump"
          onClick={() => {
            toEnd()
            box.current?.focus({ preventScroll: true })
          }}
        >
          <Icon name="down" /> {texts.newest}
        </button>
      )}
      <TypingLine app={app} />
    </section>
  )
}

/** Chunks stay the same objects while their rows do. */
function useChunks(rows: Parameters<typeof toChunks>[0]): readonly Chunk[] {
  const [{ of, chunks }, set] = useState<{ of: typeof rows; chunks: readonly Chunk[] }>({ of: [], chunks: [] })
  if (of === rows) return chunks
  const next = toChunks(rows, chunks)
  set({ of: rows, chunks: next })
  return next
}

/** Goes to the newest message when the user has sent one, or opens another chat. */
function useToEndOf(app: AppRef, newest: string | undefined, isOwn: boolean, toEnd: () => void): void {
  useEffect(() => toEnd(), [app, toEnd])
  useEffect(() => {
    if (isOwn) toEnd()
  }, [newest, isOwn, toEnd])
}

/** Arrow keys go from message to message. */
function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const { key, target, currentTarget } = event
  if (key !== 'ArrowUp' && key !== 'ArrowDown') return
  if (target instanceof HTMLElement && target.matches('textarea, input')) return
  const rows = Array.from(currentTarget.querySelectorAll<HTMLElement>('article'))
  const at = rows.findIndex(row => row.contains(document.activeElement))
  const next = at === -1 ? rows.at(-1) : rows[at + (key === 'ArrowUp' ? -1 : 1)]
  if (next === undefined) return
  event.preventDefault()
  next.focus()
  next.scrollIntoView({ block: 'nearest' })
}
