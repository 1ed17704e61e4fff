import { useState } from 'react'
import type { ContentDraft, Member } from '@parley/client'
import { useParley } from '../../hooks/context.tsx'
import { storeOf } from '../../hooks/store.ts'
import { withMentions } from './mentions.ts'

/** What is written so far. */
export interface Draft {
  readonly text: string
  /** Whom it mentions. */
  readonly chosen: readonly Member[]
  /** The options of a poll, where it is one. */
  readonly options: readonly string[] | undefined
}

const empty: Draft = { text: '', chosen: [], options: undefined }

/** The draft of this name. It is kept while the page lives. */
export function useDraft(name: string): [draft: Draft, change: (changes: Partial<Draft>) => void, clear: () => void] {
  const kept = storeOf<{ draft: Draft }>(useParley(), `draft ${name}`, () => ({ draft: empty }))
  const [draft, set] = useState(kept.draft)
  // From what is kept, as there may be several changes between two renders.
  const change = (changes: Partial<Draft>) => set((kept.draft = { ...kept.draft, ...changes }))
  return [draft, change, () => change(empty)]
}

/** What is sent of a draft with these blobs; undefined where there is nothing to send yet. */
export function toContent({ text, chosen, options }: Draft, blobs: readonly number[]): ContentDraft | undefined {
  const written = text.trim()
  const poll = options?.map(option => option.trim()).filter(option => option !== '')
  if (poll === undefined ? written === '' && blobs.length === 0 : written === '' || poll.length < 2) return undefined
  return {
    text: withMentions(written, chosen),
    ...(blobs.length > 0 && { blobs: [...blobs] }),
    ...(poll !== undefined && { options: poll.map(text => ({ text })) }),
  }
}
