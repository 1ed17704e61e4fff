import { memo, useState, type ComponentType } from 'react'
import type { ContentDraft, Post } from '@parley/client'
import { usePosts, type AppRef } from '../hooks/items.ts'
import { useMe } from './base/me.ts'
import { ListState, LoadMore, StaleNote } from './base/state.tsx'
import { useTexts } from './base/texts.tsx'
import { Comments } from './comments.tsx'
import { Composer } from './compose/composer.tsx'
import { Entry } from './item/entry.tsx'
import type { ItemActions } from './item/item-body.tsx'

export interface PostRowProps {
  app: AppRef
  post: Post
  actions: ItemActions
  me: number | undefined
}

export interface FeedProps {
  app: AppRef
  Row?: ComponentType<PostRowProps>
}

/** The posts of a feed, newest first, each with its comments, and a field for another one. */
export function Feed({ app, Row = PostRow }: FeedProps) {
  const texts = useTexts()
  const me = useMe()
  const list = usePosts(app)
  const { actions } = list
  // One that fails stays in the list, with the reason.
  const post = (draft: ContentDraft) => void actions?.send(draft).catch(() => {})
  return (
    <section className="pl-feed" aria-label={texts.feed}>
      <StaleNote of={list} />
      <Composer app={app} onSend={post} label={texts.writePost} button={texts.post} draft={`posts ${app}`} />
      <ListState of={list} isEmpty={list.data.length === 0} empty={texts.noPosts} />
      {list.data.length > 0 && (
        <div role="feed" aria-label={texts.feed} aria-busy={list.isPrevious || list.isLoadingMore}>
          {list.data.toReversed().map(post => (
            <Row key={post.key} app={app} post={post} actions={actions!} me={me} />
          ))}
        </div>
      )}
      <LoadMore of={list} />
    </section>
  )
}

/** One post. Its comments are loaded when they are opened. */
export const PostRow = memo(function PostRow({ app, post, actions, me }: PostRowProps) {
  const texts = useTexts()
  const [isOpen, open] = useState(false)
  const { id } = post
  return (
    <Entry className="pl-post" item={post} actions={actions} me={me} tabIndex={0}>
      {id !== undefined && (
        <>
          <button type="button" className="pl-link" aria-expanded={isOpen} onClick={() => open(!isOpen)}>
            {texts.commentCount(post.comments?.count ?? 0)}
          </button>
          {isOpen && <Comments app={app} parent={{ type: 'post', id }} />}
        </>
      )}
    </Entry>
  )
})
