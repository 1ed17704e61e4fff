import { memo, type ComponentType } from 'react'
import type { Comment, ContentDraft } from '@parley/client'
import { useComments, type AppRef, type Parent } from '../hooks/items.ts'
import { useMe } from './base/me.ts'
import { ListState, LoadMore, StaleNote } from './base/state.tsx'
import { useTexts } from './base/texts.tsx'
import { Composer } from './compose/composer.tsx'
import { Entry } from './item/entry.tsx'
import type { ItemActions } from './item/item-body.tsx'

export interface CommentRowProps {
  comment: Comment
  actions: ItemActions
  me: number | undefined
}

export interface CommentsProps {
  app: AppRef
  /** The post or file that the comments are on; none for those of an app of comments. */
  parent?: Parent
  Row?: ComponentType<CommentRowProps>
}

/** Comments, oldest first, and a field for another one. */
export function Comments({ app, parent, Row = CommentRow }: CommentsProps) {
  const texts = useTexts()
  const me = useMe()
  const list = useComments(app, parent)
  const { actions } = list
  // One that fails stays in the list, with the reason.
  const send = (draft: ContentDraft) => void actions?.send(draft).catch(() => {})
  return (
    <section className="pl-comments" aria-label={texts.comments}>
      <StaleNote of={list} />
      <LoadMore of={list} />
      <div role="log" aria-label={texts.comments} data-previous={list.isPrevious || undefined}>
        {list.data.map(comment => (
          <Row key={comment.key} comment={comment} actions={actions!} me={me} />
        ))}
      </div>
      <ListState of={list} isEmpty={list.data.length === 0} empty={texts.noComments} />
      <Composer
        app={app}
        onSend={send}
        label={texts.writeComment}
        hasPolls={false}
        draft={parent === undefined ? `comments ${app}` : `comments ${parent.type} ${parent.id}`}
      />
    </section>
  )
}

/** One comment. */
export const CommentRow = memo(function CommentRow({ comment, actions, me }: CommentRowProps) {
  return <Entry className="pl-comment" item={comment} actions={actions} me={me} tabIndex={-1} />
})
