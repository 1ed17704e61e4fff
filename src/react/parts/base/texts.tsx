import { createContext, useContext, useMemo, type ReactNode } from 'react'

/** Every text of the components, in English. */
export const english = {
  conversations: 'Conversations',
  noConversations: 'No conversations yet.',
  untitled: 'Conversation',
  messages: 'Messages',
  choose: 'Choose a conversation.',
  noMessages: 'No messages yet. Say hello!',
  loading: 'Loading…',
  loadOlder: 'Load older',
  showMore: 'Show more',
  offline: 'Not connected. What you see may be old.',
  ended: 'This is not available to you any more.',
  failed: 'This could not be loaded.',
  unread: 'New',
  unreadCount: (count: number) => `${count} unread`,
  isUnread: 'unread',
  newest: 'Jump to newest',
  edited: 'edited',
  sending: 'Sending…',
  notSent: 'Not sent.',
  retry: 'Try again',
  discard: 'Discard',
  react: 'React',
  reactWith: (emoji: string) => `React with ${emoji}`,
  reactions: 'Reactions',
  reacted: (emoji: string, count: number) => `${emoji}, ${count}`,
  edit: 'Edit',
  save: 'Save',
  cancel: 'Cancel',
  delete: 'Delete',
  actions: 'Actions',
  sources: 'Sources',
  poll: 'Poll',
  makePoll: 'Make a poll',
  noPoll: 'No poll',
  question: 'Ask a question',
  option: (number: number) => `Option ${number}`,
  votes: (count: number) => (count === 1 ? '1 vote' : `${count} votes`),
  typing: (names: readonly string[]) =>
    names.length === 1
      ? `${names[0]} is typing…`
      : names.length === 2
        ? `${names[0]} and ${names[1]} are typing…`
        : 'Several people are typing…',
  working: (name: string) => `${name} is thinking…`,
  usingTool: (name: string, tool: string) => `${name} is using ${tool}…`,
  asksToUse: (name: string, tool: string) => `${name} asks for your approval: ${tool}`,
  approve: 'Approve',
  decline: 'Decline',
  approvalStates: {
    pending: 'Waiting for a decision',
    approved: 'Approved',
    declined: 'Declined',
    expired: 'Expired',
  } as Record<string, string>,
  write: 'Write a message',
  writePost: 'What is new?',
  writeComment: 'Write a comment',
  send: 'Send',
  post: 'Post',
  attach: 'Attach files',
  emoji: 'Emoji',
  attachments: 'Attachments',
  remove: (name: string) => `Remove ${name}`,
  uploading: (name: string) => `Uploading ${name}`,
  notUploaded: (name: string) => `${name} was not uploaded`,
  dropHere: 'Drop files here',
  mention: 'People to mention',
  feed: 'Feed',
  noPosts: 'Nothing was posted yet.',
  comments: 'Comments',
  noComments: 'No comments yet.',
  commentCount: (count: number) => (count === 1 ? '1 comment' : `${count} comments`),
  files: 'Files',
  noFiles: 'No files yet.',
  upload: 'Upload files',
  notifications: 'Notifications',
  noNotifications: 'You are up to date.',
  markAll: 'Mark all as read',
  search: 'Search',
  close: 'Close',
  found: 'What was found',
  foundCount: (count: number) => (count === 0 ? 'Nothing was found.' : count === 1 ? '1 result' : `${count} results`),
  kinds: {
    message: 'Message',
    post: 'Post',
    comment: 'Comment',
    file: 'File',
    user: 'Person',
    app: 'Conversation',
  } as Record<string, string>,
  online: 'online',
  offlineNow: 'away',
  agent: 'Agent',
  today: 'Today',
  yesterday: 'Yesterday',
}

export type Texts = typeof english

interface Language {
  texts: Texts
  /** A BCP 47 tag; undefined for that of the browser. */
  locale: string | undefined
}

const LanguageContext = createContext<Language>({ texts: english, locale: undefined })

export interface TextsProviderProps {
  texts?: Partial<Texts>
  /** The language of dates and numbers, such as `de-CH`. */
  locale?: string
  children?: ReactNode
}

/** Replaces texts, and says the language of dates and numbers. */
export function TextsProvider({ texts, locale, children }: TextsProviderProps) {
  const language = useMemo(() => ({ texts: { ...english, ...texts }, locale }), [texts, locale])
  return <LanguageContext.Provider value={language}>{children}</LanguageContext.Provider>
}

export function useTexts(): Texts {
  return useContext(LanguageContext).texts
}

export function useLocale(): string | undefined {
  return useContext(LanguageContext).locale
}
