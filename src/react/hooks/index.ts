export { ParleyProvider, useParley } from './context.tsx'
export { useApp, useApps } from './apps.ts'
export { useConnection } from './connection.ts'
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
} from './items.ts'
export { useSelected, type Live, type Select } from './live.ts'
export { useMembers, usePresence, useTyping } from './people.ts'
export { useNotifications, useUnread } from './personal.ts'
export { useSearch, type SearchHit, type SearchQuestion } from './search.ts'
export { useAgentWork } from './work.ts'
