interface Tag {
  name: string
  description: string
  /** Further segments of paths that lead to it. */
  segments?: readonly string[]
}

/** The groups of operations, in the order of learning. */
const tags: readonly Tag[] = [
  {
    name: 'users',
    segments: ['user', 'follow', 'unfollow', 'followers', 'following'],
    description:
      'The people of your product. Your server creates each with an API key, under the `uid` that it has in your own database; ' +
      '`PUT /api/users/{uid}` creates it or brings it up to date.',
  },
  {
    name: 'tokens',
    description: 'An access token lets a page or an app act as one user. Your server asks for it and hands it out.',
  },
  {
    name: 'apps',
    segments: ['typing', 'mark', 'archive', 'pin'],
    description:
      'An app is a place where people work together: a chat, a feed, a discussion, a folder of files. ' +
      'Its type says which, and never changes. See [concepts](/docs/concepts).',
  },
  {
    name: 'members',
    description:
      'The members of an app, with what each may do: `none`, `read`, `write` or `admin`. See [permissions](/docs/permissions).',
  },
  { name: 'messages', description: 'What people write in chats. Text is Markdown; answers carry it as safe HTML too.' },
  { name: 'posts', description: 'What people write in feeds. A post has comments of its own.' },
  { name: 'comments', description: 'Comments on posts and files, and those of a discussion (an app of comments).' },
  { name: 'reactions', description: 'An emoji from one user on a message, post or comment; one per user and item.' },
  {
    name: 'polls',
    segments: ['options'],
    description: 'Options of a message, post or comment, and the votes for them.',
  },
  {
    name: 'files',
    segments: ['versions', 'attachments'],
    description:
      'Files of files apps, and those attached to messages, posts and comments, with all their versions. ' +
      'See [messages and files](/docs/messages-and-files).',
  },
  {
    name: 'blobs',
    description:
      'An uploaded file before it is something: upload it first, then name its id in a message, a file or a picture.',
  },
  { name: 'embeds', description: 'A preview of a web page, or a card of your own, that an item carries.' },
  { name: 'meetings', description: 'A link to a video call that an item carries.' },
  { name: 'stars', description: 'What a user keeps at hand. Stars are private.' },
  {
    name: 'subscriptions',
    segments: ['subscribe', 'unsubscribe'],
    description: 'Who is notified of what happens to an app, a post or a file.',
  },
  {
    name: 'notifications',
    description: 'What a user should know of: mentions, reactions, comments, and messages that stayed unread.',
  },
  {
    name: 'search',
    description: 'Everything that the caller may read, by words, phrases and filters: see [search](/docs/search).',
  },
  {
    name: 'directories',
    description:
      'Groups of users, such as customers or teams. Users see each other where they share one, and apps can be open to one.',
  },
  {
    name: 'realtime',
    segments: ['hubs'],
    description:
      'Live events arrive over a WebSocket at `/api/realtime`, or over SignalR at `/hubs/rtm`: see [realtime](/docs/realtime).',
  },
  {
    name: 'webhooks',
    segments: ['deliveries'],
    description: 'Events for your servers, as signed HTTP requests: see [webhooks](/docs/webhooks).',
  },
  {
    name: 'agents',
    segments: ['runs', 'approvals', 'agent-usage', 'agent-providers', 'mcp', 'functions', 'knowledge'],
    description:
      'Users that answer by themselves, with a model, functions and tool servers: see [agents](/docs/agents).',
  },
  {
    name: 'sign-in',
    segments: ['auth'],
    description:
      'Passwords, and tokens of the system that your users are signed in to: see [authentication](/docs/authentication).',
  },
  { name: 'keys', description: 'API keys, for your servers. Each is shown once, and can be revoked.' },
  {
    name: 'administration',
    segments: ['admin', 'session', 'sign-ins', 'audit'],
    description: 'What the administration page at `/admin` shows: nodes, connections, jobs, and who changed what.',
  },
  {
    name: 'links',
    segments: ['content'],
    description: 'Signed links to bytes. They stand in answers, such as `download_url`; nobody has to make one.',
  },
  {
    name: 'server',
    description: 'The server itself: versions, health checks, figures. No credential is needed.',
  },
]

const bySegment = new Map(
  tags.flatMap(({ name, segments = [] }) => [name, ...segments].map(one => [one, name] as const)),
)

/** For the description of the API. */
export const describedTags = tags.map(({ name, description }) => ({ name, description }))

/** The tag of an operation: the last noun of its path says it. `/api/apps/{app}/messages` → `messages`. */
export function tagOf(path: string): string {
  const segments = path.split('/')
  if (segments[1] === 'content' || segments[2] === 'admin') return bySegment.get(segments[1]!) ?? 'administration'
  return bySegment.get(segments.findLast(segment => bySegment.has(segment)) ?? '') ?? 'server'
}
