import { messages } from './messages/index.ts'
import type { Resource } from './resource.ts'

/** The table of contents: one line for each resource. */
export const resources: Resource[] = [messages]
