import type { Size } from './size.ts'

/** Where everything is, as SQL: all of it follows from numbers alone, so that every load makes the same. */
export interface Layout {
  privateChats: number
  /** The last chat is the crowd's, the one before it the loud room. */
  chats: number
  crowded: number
  loud: number
  lastPostsApp: number
  lastFilesApp: number
  /** Ids of items begin here; numbers below are revs from when apps were made. */
  firstId: number
  /** What was drawn from the line of revs and ids. */
  lastId: number
  /** Comments up to these shares are on posts, and on files; the others are in comments apps. */
  onPosts: number
  onFiles: number
  /** A post of one of the busiest person's apps, with one in fifty of the comments on posts. */
  discussed: number
}

export function toLayout({ apps, messages }: Size): Layout {
  const chats = apps * 0.8
  const lastPostsApp = apps * 0.875
  const firstId = 1_000_000
  const ofPostsApp = (post: number) => lastPostsApp - ((7 * post) % (lastPostsApp - chats))
  let discussed = 1
  while (ofPostsApp(discussed) % 20 !== 0) discussed++
  return {
    privateChats: apps * 0.5,
    chats,
    crowded: chats,
    loud: chats - 1,
    lastPostsApp,
    lastFilesApp: apps * 0.95,
    firstId,
    lastId: firstId + 4 * messages + 1_000_000,
    onPosts: 0.6,
    onFiles: 0.8,
    discussed,
  }
}

/** SQL for what follows from numbers; each takes and gives expressions. */
export function toExpressions(size: Size) {
  const { users, crowd, apps, messages, posts, comments, files, trashed } = size
  const { privateChats, chats, crowded, loud, lastPostsApp, lastFilesApp, firstId, discussed } = toLayout(size)
  const discussedPost = firstId + (discussed * 4 * messages) / posts + 1
  const scattered = (x: string) => `(1 + ((${x}) * 17) % ${users})`
  /** Any number below 2^31, the same for the same `x`. */
  const hash = (x: string, seed: number) => `(hashint8extended(${x}, ${seed}) & 2147483647)`
  return {
    hash,
    idOf: {
      message: (i: string) => `(${firstId} + (${i}) * 4)`,
      post: (i: string) => `(${firstId} + (${i}) * ${(4 * messages) / posts} + 1)`,
      comment: (i: string) => `(${firstId} + (${i}) * ${(4 * messages) / comments} + 2)`,
      file: (i: string) => `(${firstId} + (${i}) * ${(4 * messages) / files} + 3)`,
    },
    /** Two years up to the time of the load. */
    timeOf: (id: string) =>
      `(date_trunc('day', now()) - (1 - (${id} - ${firstId}) / ${4 * messages}.0) * interval '730 days')`,
    /** A fifth of the messages in the loud room; the others are more in chats with small numbers. */
    chatOf: (i: string) =>
      `case when (${i}) % 5 = 0 then ${loud} else 1 + floor(${chats - 2} * power(${hash(i, 1)} / 2147483648.0::float8, 2))::bigint end`,
    postsAppOf: (i: string) => `(${lastPostsApp} - (7 * (${i})) % ${lastPostsApp - chats})`,
    filesAppOf: (i: string) => `(${lastFilesApp} - (7 * (${i})) % ${lastFilesApp - lastPostsApp})`,
    commentsAppOf: (i: string) => `(${apps} - (7 * (${i})) % ${apps - lastFilesApp})`,
    /** Two people in private chats, ten elsewhere. The busiest person is also in all apps that `isBusiest` holds for. */
    memberOf: (app: string, k: string) => `case
      when ${app} <= ${privateChats} and ${app} % 20 = 0 then case when (${k}) % 2 = 0 then 1 else ${scattered(`${app} + 3`)} end
      when ${app} <= ${privateChats} then ${scattered(`1000 + ${app} % ${apps / 4} + ((${k}) % 2) * (1 + ${app} / ${apps / 4})`)}
      when ${app} = ${loud} then 1 + (${k}) % 500
      when ${app} = ${crowded} then 1 + (${k}) % ${crowd}
      else ${scattered(`${app} * 31 + ((${k}) % 10) * 101 + 7`)} end`,
    isBusiest: (app: string) => `(${app} % 20 < case when ${app} <= ${privateChats} then 1 else 3 end)`,
    /** But for the post whose comments are asked for. */
    isTrashed: (id: string) => `(${hash(id, 7)} % 1000 < ${trashed} and ${id} <> ${discussedPost})`,
    isEdited: (id: string) => `(${hash(id, 11)} % 100 = 0)`,
  }
}

export type Expressions = ReturnType<typeof toExpressions>
