import { Fragment, memo, useRef, type ComponentType } from 'react'
import type { Message } from '@parley/client'
import { DaySeparator } from '../base/time.tsx'
import { useTexts } from '../base/texts.tsx'
import type { ItemActions } from '../item/item-body.tsx'
import { isFirst, type Chunk } from './chunk.ts'
import type { MessageRowProps } from './message-row.tsx'
import { usePlace, type Nearness } from './nearness.ts'

export interface MessageChunkProps {
  chunk: Chunk
  /** The message before the first one. */
  before: Message | undefined
  /** The first message that is not read, where it is in this chunk. */
  unread: string | undefined
  actions: ItemActions
  me: number | undefined
  Row: ComponentType<MessageRowProps>
  nearness: Nearness
  /** True for the chunks at the end: their rows are there from the first frame on. */
  startsNear: boolean
  /** True for the last one, which always has its rows. */
  isLast: boolean
}

/** The height of a row that was never laid out, in pixels. */
const rowPx = 56

/**
 * Some rows. Far from what is seen it is a block of their height with their words in it, so that it costs next to nothing,
 * and they are found by a search in the page and read out all the same.
 */
export const MessageChunk = memo(function MessageChunk({ nearness, startsNear, isLast, ...rows }: MessageChunkProps) {
  const box = useRef<HTMLDivElement>(null)
  const { isNear, height } = usePlace(nearness, box, startsNear)
  const { chunk } = rows
  if (isNear || isLast)
    return (
      <div ref={box}>
        <Rows {...rows} />
      </div>
    )
  return (
    <div ref={box} className="pl-far" style={{ blockSize: height ?? chunk.rows.length * rowPx }}>
      {chunk.rows.map(({ created_by, plain }) => `${created_by?.name ?? ''}: ${plain ?? ''}\n`).join('')}
    </div>
  )
})

type RowsProps = Omit<MessageChunkProps, 'nearness' | 'startsNear' | 'isLast'>

function Rows({ chunk, before, unread, actions, me, Row }: RowsProps) {
  const texts = useTexts()
  return (
    <>
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
    </>
  )
}
