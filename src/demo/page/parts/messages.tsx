import { ParleyError, type Message } from '@parley/client'
import type { StillApp } from '@parley/client/still'
import { Messages } from '@parley/react'
import {
  ada,
  amal,
  asks,
  attached,
  ben,
  cleo,
  desk,
  file,
  item,
  list,
  long,
  longWord,
  picture,
  poll,
  reactions,
  unsent,
  work,
} from './specimens.ts'
import type { State } from './state.ts'

const offline = new ParleyError('The server cannot be reached.')

const embed = {
  id: 1,
  type: 'link',
  url: 'https://example.com/oak',
  title: 'How oak is dried',
  description: 'Eighteen months in the open air, then six weeks in the chamber.',
  provider_name: 'Timber weekly',
  thumbnail_url: picture,
} as const

const markdown = `<p>The order, with <strong>prices</strong> and a <a href="#">link</a>:</p>
<table><thead><tr><th>piece</th><th>each</th><th>for 50</th></tr></thead><tbody><tr><td>table</td><td>21.00</td><td>890.00</td></tr></tbody></table>
<pre><code>oak --lot larger --dry 18</code></pre><blockquote><p>Wood moves.</p></blockquote><ol><li>sand</li><li>oil, <code>first coat</code></li></ol>`

const conversation: Message[] = [
  item(cleo, '2 09:10', '<p>The table, as we drew it:</p>', {
    attachments: attached(file('table.png', 'image')),
    reactions: reactions(['💚', ada], ['👍', ben], ['👍', cleo]),
  }),
  item(ben, '2 09:12', '<p>4 mm thicker at the joint, otherwise I love it.</p>'),
  item(ben, '2 09:13', '<p>The measures are here.</p>', {
    attachments: attached(file('measures.pdf', 'document'), file('prices.xlsx', 'spreadsheet')),
    updated_at: '2026-03-02T09:20:00Z',
  }),
  item(ada, '3 08:30', markdown),
]

const polls: Message[] = [
  item(ben, '3 09:00', '<p>Who brings the cake?</p>', {
    options: poll(1, ['Ada: chocolate', 2], ['Cleo: lemon', 5], ['Both, obviously', 1]),
  }),
  item(cleo, '3 09:01', '<p>And when?</p>', { options: poll(undefined, ['At three', 0], ['At four', 0]) }),
]

const state = (name: string, app: StillApp, more: Partial<State> = {}): State => ({
  name,
  still: { app },
  show: <Messages app="a" />,
  ...more,
})
const rows = (name: string, data: Message[], more: StillApp = {}) => state(name, { messages: { data }, ...more })

export const messages: State[] = [
  rows('days, authors, pictures, files, reactions, edited, Markdown', conversation),
  state('the line above what is unread', {
    messages: { data: conversation.slice(0, 3) },
    unread: { data: { is_unread: true, last_id: conversation[2]!.id, marked_id: conversation[0]!.id } },
  }),
  rows('polls', polls),
  rows('a link with its preview', [item(ben, '3 09:00', '<p><a href="#">https://example.com/oak</a></p>', { embed })]),
  rows('sending, and failed with another try', [
    item(ben, '3 09:28', '<p>Lunch?</p>'),
    unsent('In five minutes!', { state: 'sending' }),
    unsent('And bring the drawings, please.', { state: 'failed', error: offline, retry() {}, discard() {} }),
  ]),
  rows(
    'an agent that writes, and others that type',
    [item(ada, '3 09:00', '<p>What does the handbook say about rings of glasses?</p>')],
    {
      work: { data: [work('A ring of a glass goes away with fine steel wool'), work('', { tool: 'search' })] },
      typing: { data: [ben, cleo] },
    },
  ),
  rows('an agent asks for approval', [asks('pending')]),
  rows('approvals that are decided', [asks('approved'), asks('declined'), asks('expired')]),
  rows('an answer with its sources', [
    item(ada, '3 09:00', '<p>How often is oak oiled?</p>'),
    item(desk, '3 09:01', '<blockquote><p>Oil once a year, thinly.</p></blockquote><p>[1]</p>', {
      annotations: list([{ ...file('Care for oiled oak.md', 'text'), app: { id: 1 } }]),
    }),
  ]),
  rows('long names, long words', [
    item(long, '3 09:00', `<p>${longWord}</p>`, {
      options: poll(0, [longWord, 3], ['no', 1]),
      attachments: attached(file(`${longWord}.pdf`, 'document')),
    }),
    item(long, '3 09:01', `<pre><code>${longWord} ${longWord}</code></pre>`, { reactions: reactions(['👍', long]) }),
  ]),
  rows('both directions', [
    item(amal, '3 09:00', '<p>صباح الخير! الطاولة جاهزة، <strong>متى</strong> نرسلها؟</p>'),
    item(ada, '3 09:01', '<p>Today at three, and thank you.</p>'),
    item(amal, '3 09:02', '<p>حسنًا، أرسل العنوان: Oak Street 5.</p>', { reactions: reactions(['👍', ada]) }),
  ]),
  state('older ones are loading', { messages: { data: polls, hasMore: true, isLoadingMore: true } }),
  state('stale: there is no connection', {
    messages: { data: polls.slice(0, 1), status: 'stale', reason: 'offline', error: offline },
  }),
  state('loading', { messages: { status: 'loading' } }),
  state('empty', {}),
  state('failed', { messages: { status: 'loading', error: offline } }),
  state('ended: access was lost', { messages: { status: 'ended', reason: 'access-lost' } }),
  state('none is chosen', {}, { show: <Messages app={undefined} /> }),
]
