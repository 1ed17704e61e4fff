import { useCallback, useState } from 'react'
import type {
  Comment,
  Comments,
  ContentDraft,
  File,
  Files,
  Message,
  Messages,
  ParleyError,
  Post,
  Posts,
  Readable,
  Snapshot,
} from '@parley/client'
import { useParley } from './context.tsx'
import { nothing, useLive, useSelected, type Live, type Select } from './live.ts'

/** The id or uid of an app; undefined while it is not known. */
export type AppRef = string | number | undefined

/** What comments are on, where that is not an app of comments. */
export interface Parent {
  type: 'post' | 'file'
  id: number
}

/** A list, and what can be done with its items: `send`, `edit`, `trash`, `react`, `vote` and more. */
export type LiveItems<Item, Collection> = Live<readonly Item[]> & { readonly actions: Collection | undefined }

const noItems = nothing<readonly never[]>([])

/** The messages of a chat, oldest first, or a selected part of them. */
export function useMessages(app: AppRef): LiveItems<Message, Messages>
export function useMessages<Value>(app: AppRef, select: Select<readonly Message[], Value>): Value
export function useMessages<Value>(app: AppRef, select?: Select<readonly Message[], Value>) {
  const parley = useParley()
  return useItems<Message, Messages, Value>(app === undefined ? undefined : parley.app(app).messages, select)
}

/** The posts of a feed, oldest first. */
export function usePosts(app: AppRef): LiveItems<Post, Posts>
export function usePosts<Value>(app: AppRef, select: Select<readonly Post[], Value>): Value
export function usePosts<Value>(app: AppRef, select?: Select<readonly Post[], Value>) {
  const parley = useParley()
  return useItems<Post, Posts, Value>(app === undefined ? undefined : parley.app(app).posts, select)
}

/** The comments on a post or file, or those of an app of comments, oldest first. */
export function useComments(app: AppRef, parent?: Parent): LiveItems<Comment, Comments>
export function useComments<Value>(
  app: AppRef,
  parent: Parent | undefined,
  select: Select<readonly Comment[], Value>,
): Value
export function useComments<Value>(app: AppRef, parent?: Parent, select?: Select<readonly Comment[], Value>) {
  const parley = useParley()
  return useItems<Comment, Comments, Value>(app === undefined ? undefined : parley.app(app).comments(parent), select)
}

/** The files of a files app, oldest first. */
export function useFiles(app: AppRef): LiveItems<File, Files>
export function useFiles<Value>(app: AppRef, select: Select<readonly File[], Value>): Value
export function useFiles<Value>(app: AppRef, select?: Select<readonly File[], Value>) {
  const parley = useParley()
  return useItems<File, Files, Value>(app === undefined ? undefined : parley.app(app).files, select)
}

export interface Send {
  /** Sends a message. It is shown at once; resolves when the server has it, and keeps a failed one for another try. */
  (draft: string | ContentDraft): Promise<void>
}

/** What sends messages to a chat, without a subscription to it. */
export function useSend(app: AppRef): { send: Send; isSending: boolean; error: ParleyError | undefined } {
  const parley = useParley()
  const [{ sending, error }, set] = useState<{ sending: number; error: ParleyError | undefined }>({
    sending: 0,
    error: undefined,
  })
  const send = useCallback(
    async (draft: string | ContentDraft) => {
      if (app === undefined) return
      set(({ sending }) => ({ sending: sending + 1, error: undefined }))
      let error: ParleyError | undefined
      try {
        await parley.app(app).messages.send(typeof draft === 'string' ? { text: draft } : draft)
      } catch (thrown) {
        // Whatever goes wrong is one of these.
        error = thrown as ParleyError
      }
      set(({ sending }) => ({ sending: sending - 1, error }))
    },
    [parley, app],
  )
  return { send, isSending: sending > 0, error }
}

function useItems<Item, Collection extends Readable<Snapshot<readonly Item[]>>, Value>(
  collection: Collection | undefined,
  select: Select<readonly Item[], Value> | undefined,
): LiveItems<Item, Collection> | Value {
  // Whether there is a selector never changes between renders of a component.
  if (select !== undefined) return useSelected(collection, noItems, select)
  const live = useLive<readonly Item[]>(collection, noItems)
  return { ...live, actions: collection }
}
