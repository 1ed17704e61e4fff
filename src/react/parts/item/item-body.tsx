import type { Comments, Message } from '@parley/client'
import { focusNextRow, focusRow } from '../base/focus.ts'
import { Icon } from '../base/icon.tsx'
import { useTexts } from '../base/texts.tsx'
import { Approval, toAsked } from './approval.tsx'
import { Attachments } from './attachments.tsx'
import { EditText } from './edit-text.tsx'
import { Embed } from './embed.tsx'
import { Poll } from './poll.tsx'
import { ReactButton, Reactions } from './reactions.tsx'
import { Sources } from './sources.tsx'
import { ItemText } from './text.tsx'

/** What can be done with the items of a list: those of messages, posts and comments alike. */
export type ItemActions = Pick<Comments, 'edit' | 'trash' | 'react' | 'vote'>

export interface ItemBodyProps {
  /** A message, post or comment. */
  item: Message
  actions: ItemActions
  /** The user's id. */
  me: number | undefined
  isEditing: boolean
  onEdit: (isEditing: boolean) => void
}

/** A write that fails stays on its row, with the reason. */
const onRow = () => {}

/** Everything of an item below its author: text, poll, attachments, reactions, and what became of sending it. */
export function ItemBody({ item, actions, me, isEditing, onEdit }: ItemBodyProps) {
  const { id } = item
  const asked = toAsked(item.metadata)
  return (
    <>
      {isEditing && id !== undefined ? (
        <EditText
          text={item.text ?? ''}
          onCancel={() => onEdit(false)}
          onSave={text => {
            onEdit(false)
            actions.edit(id, { text }).catch(onRow)
          }}
        />
      ) : asked === undefined ? (
        <>
          <ItemText html={item.html} plain={item.plain} text={item.text} />
          {id !== undefined && (
            <Poll options={item.options?.data} onVote={option => void actions.vote(id, option).catch(onRow)} />
          )}
        </>
      ) : (
        <Approval asked={asked} agent={item.created_by.name} />
      )}
      <Sources files={item.annotations?.data} />
      <Embed embed={item.embed} />
      <Attachments files={item.attachments?.data} />
      {id !== undefined && (
        <Reactions
          reactions={item.reactions}
          me={me}
          onReact={content => void actions.react(id, content).catch(onRow)}
        />
      )}
      <Sending item={item} />
    </>
  )
}

/** What became of the newest own write to an item. */
export function Sending({ item: { id, state, error, retry, discard } }: { item: Message }) {
  const texts = useTexts()
  if (state !== 'failed') return null
  return (
    <p className="pl-failed" role="alert">
      {texts.notSent} {error?.message}{' '}
      <button
        type="button"
        onClick={({ currentTarget }) => {
          focusRow(currentTarget)
          retry?.()
        }}
      >
        {texts.retry}
      </button>{' '}
      <button
        type="button"
        onClick={({ currentTarget }) => {
          if (id === undefined) focusNextRow(currentTarget)
          else focusRow(currentTarget)
          discard?.()
        }}
      >
        {texts.discard}
      </button>
    </p>
  )
}

/** What can be done with one item: shown where it is pointed at or has the focus. */
export function ItemTools({ item, actions, me, onEdit }: Omit<ItemBodyProps, 'isEditing'>) {
  const texts = useTexts()
  const { id } = item
  if (id === undefined) return null
  return (
    <div className="pl-tools" role="group" aria-label={texts.actions}>
      <ReactButton onReact={content => void actions.react(id, content).catch(onRow)} />
      {item.created_by.id === me && (
        <>
          <button
            type="button"
            className="pl-icon-button"
            aria-label={texts.edit}
            title={texts.edit}
            onClick={() => onEdit(true)}
          >
            <Icon name="edit" />
          </button>
          <button
            type="button"
            className="pl-icon-button"
            aria-label={texts.delete}
            title={texts.delete}
            onClick={({ currentTarget }) => {
              focusNextRow(currentTarget)
              actions.trash(id).catch(onRow)
            }}
          >
            <Icon name="trash" />
          </button>
        </>
      )}
    </div>
  )
}
