import type { Expressions, Layout } from './layout.ts'
import type { Size } from './size.ts'
import { commonWord } from './words.ts'

/** One list that somebody asks for. */
export interface List {
  by: 'key' | 'busiest' | 'member' | 'ordinary'
  path: string
  /** At most so many milliseconds; null for words that a tenth of everything has, which no bound is asked of. */
  limitMs: number | null
}

/** What a list may take for people, for those in very many apps, and for API keys. */
const limitsMs = { member: 100, ordinary: 100, busiest: 150, key: 1_000 }

/** Users that have tokens: in very many apps, in the first directory, in no directory. */
export function toTokens({ users }: Size) {
  const tokenOf = (user: number) => `token-of-${user}`
  return { busiest: tokenOf(1), member: tokenOf(2), ordinary: tokenOf(users) }
}

/** Every list, from its beginning, at depth, in its other orders, and with what it is usually filtered by. */
export function toLists(size: Size, layout: Layout, { idOf }: Expressions): List[] {
  const { loud, crowded, lastPostsApp, discussed } = layout
  const { messages, posts, comments, files, notifications, users, apps, busiest } = size
  // One of them is a files app of the busiest person: every other app in 20 of which the last is.
  const filesApp = layout.lastFilesApp - (layout.lastFilesApp % 20) + 1 - 20
  const middle = (count: number) => Math.floor(count / 2)
  const inLoud = messages / 5
  const around = evaluate(idOf.message(String(middle(messages) - (middle(messages) % 5))))
  const post = evaluate(idOf.post(String(discussed)))
  const postsApp = lastPostsApp - ((7 * discussed) % (lastPostsApp - layout.chats))
  const as = (by: List['by'], paths: string[]): List[] =>
    paths.map(path => ({ by, path, limitMs: path.includes(`q=${commonWord}`) ? null : limitsMs[by] }))

  const ofNotifications = (count: number) => [
    '/api/notifications',
    '/api/notifications?unread=true',
    '/api/notifications?unread=true&count_only=true',
    `/api/notifications?skip=${middle(count)}`,
    `/api/notifications?skip=${count / 20}`,
    '/api/notifications?order_by=created_at desc',
    '/api/notifications?type=mention',
    '/api/notifications?q=x77',
    '/api/notifications?q=launch',
  ]
  const ofApps = [
    '/api/apps',
    '/api/apps?order_by=rev desc',
    '/api/apps?order_by=pinned_at desc,rev desc&type=chat_room&type=private_chat',
    '/api/apps?order_by=name',
    '/api/apps?order_by=updated_at desc',
    '/api/apps?q=ann',
    '/api/apps?q=launch',
    '/api/apps?trashed=null',
  ]
  const ofUsers = [
    '/api/users',
    '/api/users?agent=false',
    '/api/users?skip=5000',
    '/api/users?order_by=id',
    '/api/users?q=ann',
    '/api/users?q=user-77',
    '/api/users?count_only=true',
  ]
  const ofContent = (kind: string, count: number) => [
    `/api/${kind}`,
    `/api/${kind}?order_by=created_at desc`,
    `/api/${kind}?order_by=id`,
    `/api/${kind}?skip=${middle(count)}`,
    `/api/${kind}?order_by=updated_at desc`,
    `/api/${kind}?q=x77`,
    `/api/${kind}?q=launch x7`,
    `/api/${kind}?q=${commonWord}`,
    `/api/${kind}?tag=todo`,
    `/api/${kind}?trashed=true`,
    `/api/${kind}?trashed=null`,
    `/api/${kind}?count_only=true`,
  ]
  const ofFiles = [
    '/api/files',
    '/api/files?order_by=name',
    '/api/files?order_by=created_at desc',
    `/api/files?skip=${middle(files / 2)}`,
    '/api/files?q=launch',
    '/api/files?q=77',
    '/api/files?trashed=true',
  ]
  const ofOneApp = [
    `/api/apps/${loud}/messages`,
    `/api/apps/${loud}/messages?order_by=id desc`,
    `/api/apps/${loud}/messages?skip=${middle(inLoud)}`,
    `/api/apps/${loud}/messages?around=${around}`,
    `/api/apps/${loud}/messages?order_by=updated_at desc`,
    `/api/apps/${loud}/messages?q=x77`,
    `/api/apps/${loud}/messages?q=launch`,
    `/api/apps/${loud}/members`,
    `/api/apps/${crowded}/members`,
    `/api/apps/${crowded}/members?q=ann`,
    `/api/apps/${crowded}/members?skip=${middle(size.crowd)}`,
  ]
  const ofOwnApps = [
    `/api/apps/${postsApp}/posts`,
    `/api/apps/${postsApp}/posts?order_by=created_at desc`,
    `/api/posts/${post}`,
    `/api/posts/${post}/comments`,
    `/api/posts/${post}/comments?order_by=created_at desc`,
    `/api/posts/${post}/comments?skip=${middle((comments * layout.onPosts) / 50)}`,
    `/api/apps/${filesApp}/files`,
    `/api/apps/${filesApp}/files?order_by=name`,
    '/api/stars',
    '/api/users/1/following',
  ]
  return [
    ...as('busiest', [
      ...ofNotifications(busiest),
      ...ofApps,
      '/api/apps?unread=true',
      '/api/apps?unread=true&count_only=true',
      ...ofUsers,
      ...ofContent('messages', messages / 10),
      ...ofContent('posts', posts / 10),
      ...ofContent('comments', comments / 10),
      ...ofFiles,
      ...ofOwnApps,
      ...ofOneApp,
      `/api/apps/${loud}/notifications`,
    ]),
    ...as('member', [
      '/api/notifications',
      '/api/apps?order_by=rev desc',
      ...ofUsers,
      '/api/messages',
      '/api/messages?q=x77',
      '/api/files',
      '/api/directories',
      '/api/directories/1/members',
      `/api/directories/1/members?skip=${middle(size.company)}`,
      '/api/directories/1/members?q=ann',
      ...ofOneApp,
    ]),
    ...as('ordinary', ['/api/notifications', '/api/apps?order_by=rev desc', ...ofUsers, '/api/messages', '/api/posts']),
    ...as('key', [
      ...ofNotifications(notifications),
      '/api/notifications?user=1',
      '/api/notifications?user=1&unread=true',
      ...ofApps,
      `/api/apps?skip=${middle(apps)}`,
      '/api/apps?member=1',
      ...ofUsers,
      `/api/users?skip=${middle(users)}`,
      '/api/users?trashed=true',
      ...ofContent('messages', messages),
      ...ofContent('posts', posts),
      ...ofContent('comments', comments),
      ...ofFiles,
      '/api/directories',
      '/api/users/1/followers',
      '/api/directories?q=77',
      '/api/directories/1/members',
      '/api/agents',
      '/api/webhooks',
      '/api/webhooks/1/deliveries',
      ...ofOneApp,
    ]),
  ]
}

/** The number that an expression without names stands for. */
function evaluate(expression: string): number {
  const [, first, number, step, rest = '0'] = /^\((\d+) \+ \((\d+)\) \* (\d+)(?: \+ (\d+))?\)$/.exec(expression) ?? []
  return Number(first) + Number(number) * Number(step) + Number(rest)
}
