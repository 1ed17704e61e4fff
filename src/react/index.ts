export { ParleyProvider, useParley } from './hooks/context.tsx'
export { useApp, useApps } from './hooks/apps.ts'
export { useConnection } from './hooks/connection.ts'
export {
  useComments,
  useFiles,
  useMessages,
  usePosts,
  useSend,
  type AppRef,
  type LiveItems,
  type Parent,
  type Send,
} from './hooks/items.ts'
export { useSelected, type Live, type Select } from './hooks/live.ts'
export { useMembers, usePresence, useTyping } from './hooks/people.ts'
export { useNotifications, useUnread } from './hooks/personal.ts'
export { useAgentWork } from './hooks/work.ts'

export { Avatar } from './parts/base/avatar.tsx'
export { useMe } from './parts/base/me.ts'
export { ListState, LoadMore, StaleNote } from './parts/base/state.tsx'
export { english, TextsProvider, useLocale, useTexts, type Texts } from './parts/base/texts.tsx'
export { DaySeparator, ShortTime, Time } from './parts/base/time.tsx'
export { AgentDrafts } from './parts/chat/agent-drafts.tsx'
export { Conversation, ConversationList, type ConversationListProps } from './parts/chat/conversation-list.tsx'
export { MessageRow, type MessageRowProps } from './parts/chat/message-row.tsx'
export { Messages, type MessagesProps } from './parts/chat/messages.tsx'
export { TypingLine } from './parts/chat/typing-line.tsx'
export { CommentRow, Comments, type CommentRowProps, type CommentsProps } from './parts/comments.tsx'
export { Composer, type ComposerProps } from './parts/compose/composer.tsx'
export { UploadList } from './parts/compose/upload-list.tsx'
export { useUploads, type Upload, type Uploads } from './parts/compose/uploads.ts'
export { Feed, PostRow, type FeedProps, type PostRowProps } from './parts/feed.tsx'
export { Files, type FilesProps } from './parts/files.tsx'
export { Approval } from './parts/item/approval.tsx'
export { Attachments } from './parts/item/attachments.tsx'
export { EditText } from './parts/item/edit-text.tsx'
export { Embed } from './parts/item/embed.tsx'
export { Entry, type EntryProps } from './parts/item/entry.tsx'
export { ItemBody, ItemTools, Sending, type ItemActions, type ItemBodyProps } from './parts/item/item-body.tsx'
export { Poll } from './parts/item/poll.tsx'
export { ReactButton, Reactions } from './parts/item/reactions.tsx'
export { ItemText } from './parts/item/text.tsx'
export { NotificationBell, type NotificationBellProps } from './parts/notification-bell.tsx'
export { Presence, type PresenceProps } from './parts/presence.tsx'
