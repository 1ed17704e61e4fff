import { ParleyError, type Member } from '@parley/client'
import {
  Comments,
  Composer,
  ConversationList,
  Feed,
  Files,
  NotificationBell,
  Presence,
  UploadList,
  type Uploads,
} from '@parley/react'
import { Pressed, Written } from './by-itself.tsx'
import {
  ada,
  amal,
  attached,
  ben,
  cleo,
  conversation,
  desk,
  file,
  item,
  long,
  longWord,
  members,
  notification,
  poll,
  present,
  reactions,
  unsent,
} from './specimens.ts'
import type { State } from './state.ts'

const offline = new ParleyError('The server cannot be reached.')
const nothing = () => {}

const chats = [
  conversation('Lobby', item(ben, '3 09:10', '<p>The chairs are oiled.</p>'), { is_unread: true, id: 1 }),
  conversation('Spring collection', item(cleo, '2 16:00', '<p>The drawings are in Documents.</p>')),
  conversation('Front desk', item(desk, '2 12:00', '<p>I can do that.</p>'), { kind: 'agent_chat' }),
  conversation(amal.name, item(amal, '1 11:00', '<p>متى نرسلها؟</p>'), { kind: 'private_chat', is_unread: true }),
  conversation(long.name, item(long, '1 10:00', `<p>${longWord}</p>`), { is_unread: true }),
  conversation(undefined, undefined),
]
const chatList = <ConversationList selected={1} onSelect={nothing} />

export const conversations: State[] = [
  { name: 'one is open, some are unread', still: { apps: { data: chats } }, show: chatList },
  { name: 'there are older ones', still: { apps: { data: chats.slice(0, 2), hasMore: true } }, show: chatList },
  { name: 'loading', still: { apps: { status: 'loading' } }, show: chatList },
  { name: 'empty', still: {}, show: chatList },
  { name: 'failed', still: { apps: { status: 'loading', error: offline } }, show: chatList },
]

const remarks = [
  item(cleo, '2 15:50', '<p>The joint is 4 mm thicker now.</p>'),
  item(amal, '3 08:02', '<p>شكرًا جزيلًا</p>', { reactions: reactions(['🙏', cleo]) }),
  unsent('Page 2: is the overhang meant to be 60 mm?', { state: 'failed', error: offline, retry: nothing }),
]
const remarkList = <Comments app="a" parent={{ type: 'file', id: 1 }} />

export const comments: State[] = [
  { name: 'some, and one that failed', still: { app: { comments: { data: remarks } } }, show: remarkList },
  { name: 'empty', still: {}, show: remarkList },
  { name: 'loading', still: { app: { comments: { status: 'loading' } } }, show: remarkList },
  {
    name: 'stale',
    still: { app: { comments: { data: remarks.slice(0, 1), status: 'stale', error: offline } } },
    show: remarkList,
  },
  { name: 'failed', still: { app: { comments: { status: 'ended', error: offline } } }, show: remarkList },
]

const posts = [
  item(long, '1 09:00', `<p>${longWord}</p>`),
  item(ben, '2 15:00', '<p>What shall we plant?</p>', { options: poll(0, ['A small pine', 4], ['Lavender', 1]) }),
  item(cleo, '3 16:05', '<h2>Spring</h2><p>One table, one bench, one shelf.</p>', {
    attachments: attached(file('table.png', 'image')),
    reactions: reactions(['🎉', ada], ['💚', ben]),
    comments: { count: 2 },
  }),
]

export const feed: State[] = [
  {
    name: 'posts with comments, a picture, a poll',
    still: { app: { posts: { data: posts }, comments: { data: remarks.slice(0, 2) } } },
    show: (
      <Pressed button=".pl-post .pl-link">
        <Feed app="a" />
      </Pressed>
    ),
  },
  { name: 'empty', still: {}, show: <Feed app="a" /> },
  { name: 'loading', still: { app: { posts: { status: 'loading' } } }, show: <Feed app="a" /> },
  {
    name: 'stale',
    still: { app: { posts: { data: posts.slice(1, 2), status: 'stale', error: offline } } },
    show: <Feed app="a" />,
  },
]

const documents = [
  file(`${longWord}.docx`, 'document', { size: 4_800_000 }),
  file('قائمة الأسعار.xlsx', 'spreadsheet', { size: 900 }),
  file('Care for oiled oak.md', 'text'),
  file('Spring collection.png', 'image'),
]

export const files: State[] = [
  {
    name: 'pictures and others, one is open',
    still: { app: { files: { data: documents } } },
    show: <Files app="a" selected={documents[3]!.id} onOpen={nothing} />,
  },
  { name: 'empty', still: {}, show: <Files app="a" /> },
  { name: 'loading', still: { app: { files: { status: 'loading' } } }, show: <Files app="a" /> },
  {
    name: 'stale',
    still: { app: { files: { data: documents.slice(2), status: 'stale', error: offline } } },
    show: <Files app="a" />,
  },
]

const uploads: Uploads = {
  list: [
    { key: 1, name: 'table.png', share: 0.4, blob: undefined, error: undefined },
    { key: 2, name: 'prices.xlsx', share: 1, blob: 1, error: undefined },
    { key: 3, name: `${longWord}.mov`, share: 0, blob: undefined, error: new ParleyError('It is larger than 100 MB.') },
  ],
  isBusy: true,
  add: nothing,
  remove: nothing,
  clear: nothing,
}

export const composer: State[] = [
  { name: 'empty', still: {}, show: <Composer app="empty" /> },
  {
    name: 'written, in two lines',
    still: {},
    show: (
      <Written text={'The chairs are oiled.\nDo you want to see them?'}>
        <Composer app="written" />
      </Written>
    ),
  },
  {
    name: 'somebody is being mentioned',
    still: { app: { members: { data: members } } },
    show: (
      <Written text="@">
        <Composer app="mention" />
      </Written>
    ),
  },
  {
    name: 'files on their way, and one that failed',
    still: {},
    show: (
      <div className="pl-composer">
        <UploadList uploads={uploads} />
      </div>
    ),
  },
]

const told = [
  notification(cleo, 'Cleo Tran mentioned you in a post: "Ada, shall we print on uncoated paper?"', {
    is_unread: true,
  }),
  notification(amal, 'أشارت إليك أمل حدّاد في رسالة', { is_unread: true }),
  notification(long, `${long.name} reacted 👍 to your message: "${longWord}"`),
]
const openBell = (
  <Pressed button="button">
    <NotificationBell />
  </Pressed>
)

export const bell: State[] = [
  { name: 'closed, some are unread', still: { notifications: { data: told } }, show: <NotificationBell /> },
  { name: 'open', still: { notifications: { data: told } }, show: openBell },
  { name: 'nothing new', still: {}, show: openBell },
  { name: 'loading', still: { notifications: { status: 'loading' } }, show: openBell },
]

const here = (some: readonly Member[]): State['still'] => ({
  presence: { data: present },
  app: { members: { data: some } },
})

export const presence: State[] = [
  { name: 'a few', still: here(members.slice(0, 3)), show: <Presence app="a" /> },
  { name: 'more than are shown', still: here(members), show: <Presence app="a" /> },
]
