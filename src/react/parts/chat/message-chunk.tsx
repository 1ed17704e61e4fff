import { Fragment, memo, type ComponentType } from 'react'
import type { Message } from '@parley/client'
import { DaySeparator } from '../base/time.tsx'
import { useTexts } from '../base/texts.tsx'
import type { ItemActions } from '../item/item-body.tsx'
import { isFirst, type Chunk } from './chunk.ts'
import type { MessageRowProps } from './message-row.tsx'

export interface MessageChunkProps {
  chunk: Chunk
  /** The message before the first one. */
  before: Message | undefined
  /** The first message that is not read, where it is in this chunk. */
  unread: string | undefined
  actions: ItemActions
  me: number | undefined
  Row: ComponentType<MessageRowProps>
}

/** Rows that browsers need not lay out while they are out of sight. */
export const MessageChunk = memo(function MessageChunk({ chunk, before, unread, actions, me, Row }: MessageChunkProps) {
  const texts = useTexts()
  return (
    <div className="pl-chunk" style={{ containIntrinsicBlockSize: `auto ${chunk.rows.length * 56}px` }}>
      {chunk.day !== undefined && <DaySeparator day={chunk.day} />}
      {chunk.rows.map((message, index) => (
        <Fragment key={message.key}>
          {message.key === unread && (
            <p className="pl-unread-line">
              <span>{texts.unread}</span>
            </p>
          )}
          <Row
            message={message}
            isFirst={message.key === unread || isFirst(message, index === 0 ? before : chunk.rows[index - 1])}
            actions={actions}
            me={me}
          />
        </Fragment>
      ))}
    </div>
  )
})
