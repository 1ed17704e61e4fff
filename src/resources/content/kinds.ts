import { comment } from '../comments/kind.ts'
import { message } from '../messages/kind.ts'
import { post } from '../posts/kind.ts'
import type { ContentEntity, ContentKind } from './kind.ts'

/** All kinds of content: for what can be done with any of them. */
export const kinds: Record<ContentEntity, ContentKind> = { message, post, comment }
