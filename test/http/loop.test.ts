import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { toPassages } from '../../src/agents/extraction/passages.ts'
import { Sections } from '../../src/agents/extraction/sections.ts'
import { parseJson } from '../../src/api/json-text.ts'
import { writeAnswer, writeJson } from '../../src/api/json.ts'
import { Listing } from '../../src/api/page.ts'
import { Unknown } from '../../src/http/request/names/unknown.ts'
import { check } from '../../src/http/request/field-errors.ts'
import { QueryReader } from '../../src/http/request/query.ts'
import { shortLength } from '../../src/resources/content/text/renderer.ts'
import { listMentionedUids, parseText, settleMentions } from '../../src/resources/content/text/render.ts'
import { NewContent } from '../../src/resources/items/schema.ts'

/** The longest that the event loop may be held up by what one user sends, in ms of processor time. */
const mostMs = 50

/** The same where it is done elsewhere, or where a machine that does much else meanwhile is as slow. */
const apartMs = 150

/** The processor time of the quickest of three attempts, in ms. What is refused takes time too. */
function timeOf(run: () => void): number {
  const attempts = Array.from({ length: 3 }, () => {
    const before = process.cpuUsage()
    try {
      run()
    } catch {
      // A refusal, which other tests look at.
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1_000
  })
  return Math.min(...attempts)
}

/** As long as a text may be. */
const textLength = 65_536
const fill = (unit: string, length = textLength) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)

/** Texts of a length that are hard to parse. */
const markdownOf = (length: number): Record<string, string> => ({
  ...Object.fromEntries(
    [
      ...[
        '[',
        '![',
        '[a](b)',
        '[a](b "',
        '[a][',
        '](',
        '<a ',
        '<!--',
        '<![CDATA[',
        '&',
        '*',
        '_',
        '*a **b ',
        'a**b*c ',
      ],
      ...[
        '~~a ',
        '`',
        '``a`',
        '```\n',
        '> ',
        '- ',
        '* a\n',
        '> - ',
        '- - ',
        '|',
        '|a|b|\n',
        '|-|-|\n',
        'a\n-\n',
        'a\n=\n',
      ],
      ...[
        '\\',
        '\\\n',
        'http://a.b ',
        'http://a.b/c?d=e ',
        'https://a.b/(((',
        'www.a.b ',
        'a@b.c ',
        'a.',
        'a@',
        '@',
        '@u1 ',
      ],
      ...[
        '[N](@u1)',
        '[[N](@u1)',
        '[a]: b\n',
        '- [x] a\n',
        '\u202e',
        '\ud800',
        'e\u0301',
        '\n',
        '\r',
        ' ',
        '"',
        ':',
        '_*a',
      ],
    ].map(unit => [`${JSON.stringify(unit)} again and again`, fill(unit, length)]),
  ),
  'nested brackets': nest('[', ']', length),
  'nested pictures': nest('![', '](b)', length),
  'nested emphasis': nest('*', '*', length),
  'nested mentions': nest('[', '](@u1)', length),
  'nested mentions by uid': nest('[', '](@ann)', length),
  'nested brackets in a link': nest('http://(', ')', length),
  'growing backticks': Array.from({ length: 360 }, (_, i) => '`'.repeat(i + 1))
    .join(' ')
    .slice(0, length),
  'nested lists': Array.from({ length: 250 }, (_, i) => `${' '.repeat(2 * i)}- a`)
    .join('\n')
    .slice(0, length),
  'a wide table': `${'|a'.repeat(length / 8)}|\n${'|-'.repeat(length / 8)}|\n${'|b'.repeat(length / 8)}|`,
  'a thousand links': Array.from({ length: 3_000 }, (_, i) => `http://a${i}.b/c`)
    .join(' ')
    .slice(0, length),
  'a thousand people': Array.from({ length: 4_000 }, (_, i) => `[N](@u${i})`)
    .join(' ')
    .slice(0, length),
  'one word': fill('a', length),
})

/** As much of one opening as of its ending. */
function nest(open: string, close: string, length: number): string {
  const depth = Math.floor(length / (open.length + close.length))
  return open.repeat(depth) + close.repeat(depth)
}

function render(text: string): void {
  const uids = listMentionedUids(text)
  settleMentions(parseText(text, new Map(uids.map((uid, i) => [uid, i + 1]))), id => id % 2 === 0)
}

test.each(Object.entries(markdownOf(shortLength)))(
  'a text of %s that is rendered at once holds up nobody',
  (_, text) => {
    expect(timeOf(() => render(text))).toBeLessThan(mostMs)
  },
)

test.each(Object.entries(markdownOf(textLength)))('the longest text of %s is rendered in bounded time', (_, text) => {
  expect(timeOf(() => render(text))).toBeLessThan(apartMs)
})

const members = (count: number) => Array.from({ length: count }, (_, i) => `"member ${i}":1`).join(',')

const json = {
  'a megabyte of names': `{"metadata":{${members(60_000)}}}`,
  'as many names as there may be': `{"metadata":{${members(29_990)}}}`,
  'as many texts as there may be': `{"tags":[${Array.from({ length: 99_000 }, (_, i) => `"t${i}"`).join(',')}]}`,
  brackets: '['.repeat(4_000_000),
  'objects in objects': `{"metadata":${'{"a":'.repeat(62)}1${'}'.repeat(62)}}`,
  'a long text': `{"text":"${fill('a', 4_000_000)}"}`,
  'quotation marks': `{"text":"${fill('\\"', 4_000_000)}"}`,
  backslashes: `{"text":"${fill('\\\\', 4_000_000)}"}`,
  'runs of backslashes': `{"text":"${`${'\\'.repeat(2_000)}\\"`.repeat(1_900)}"}`,
  'escaped letters': `{"text":"${'\\u0041'.repeat(600_000)}"}`,
  digits: `{"text":${fill('1', 4_000_000)}}`,
  spaces: `${fill(' ', 4_000_000)}{}`,
  options: `{"options":[${Array.from({ length: 29_000 }, (_, i) => `{"text":"${i}"}`).join(',')}]}`,
  ids: `{"blobs":[${Array.from({ length: 99_000 }, (_, i) => i).join(',')}]}`,
}

test.each(Object.entries(json))('a body of %s holds up nobody', (_, text) => {
  expect(timeOf(() => check(NewContent, parseJson(text), 'body'))).toBeLessThan(apartMs)
})

/** As long as an address may be. */
const queryLength = 32 * 1024 - 100

test.each([
  ['words', `q=${fill('a+', queryLength)}`],
  ['encoded words', `q=${fill('%C3%A4+', queryLength - 6)}`],
  ['tags', fill('tag=a&', queryLength)],
  ['unknown parameters', fill('a=b&', queryLength)],
  ['orders', `order_by=${fill('id,', queryLength)}`],
  ['equals signs', fill('=', queryLength)],
])('a query of %s holds up nobody', (_, query) => {
  const reader = new QueryReader(Listing)

  expect(timeOf(() => check(Listing, reader.read(query, new Unknown('lenient')), 'query'))).toBeLessThan(mostMs)
})

test('a search has at most 32 words', () => {
  const read = (words: number) => Listing.safeParse({ q: Array.from({ length: words }, (_, i) => i).join(' ') })

  expect(read(32).success).toBe(true)
  expect(read(33).error?.issues[0]?.message).toBe('must have at most 32 words')
})

/** Twice as long as what is cut in the time. */
const documentLength = 6_000_000

test.each([
  ['without an end of a line', 'word,', 1_500],
  ['without a space', 'x', 2_000],
  ['of lines', 'a;b;c;d\n', 1_500],
  ['of spaces and an end', `${' '.repeat(1_000_000)}a`, 0],
])('a document %s is cut into passages in linear time', (_, unit, least) => {
  const text = fill(unit, documentLength)
  let passages = 0

  const ms = timeOf(() => {
    const sections = new Sections()
    sections.add(text)
    sections.end(null)
    passages = toPassages(sections.list).length
  })

  expect(passages).toBeGreaterThanOrEqual(least)
  // In a process of its own, where it may take longer than here. Quadratic time would be a minute.
  expect(ms).toBeLessThan(20 * apartMs)
})

test('passages end at blank lines, lines, sentences or words, and overlap', () => {
  const paragraph = `${'Some words of a sentence. '.repeat(70)}\n\n`
  const passages = toPassages([{ place: 'page 1', text: paragraph.repeat(4) }])

  expect(passages.length).toBeGreaterThan(3)
  for (const { place, text } of passages.slice(0, -1)) {
    expect(place).toBe('page 1')
    expect(text).toMatch(/sentence\.$/)
  }
  expect(passages[0]!.text.endsWith(passages[1]!.text.slice(0, 100).trim())).toBe(false)
  expect(passages[0]!.text).toContain(passages[1]!.text.slice(0, 100).trim())
})

test('a page of the longest texts is written in portions, between which others have their turns', async () => {
  const item = { id: 1, text: fill('"'), plain: fill('\u0001'), html: `<p>${fill('&quot;')}</p>`, at: null, tags: [] }
  const page = { data: Array.from({ length: 100 }, (_, id) => ({ ...item, id })), start: 0, end: 100, count: 100 }
  const state = { isWritten: false, turns: 0 }

  const written = writeAnswer(page, 'string')
  void Promise.resolve(written).then(() => (state.isWritten = true))
  while (!state.isWritten) {
    await nextTurn()
    state.turns++
  }

  expect(state.turns).toBeGreaterThanOrEqual(100)
  expect(Buffer.from(await written).toString() === writeJson(page, 'string')).toBe(true)
})

test('an answer is the same whether it is written at once or in portions', () => {
  const answers = [
    {},
    { data: [], count: 0 },
    { count: 0, data: null },
    { data: [null, { id: 1, name: 'ä' }, 'b', [1]], start: 0, end: 3, count: 3 },
    { id: 1, tags: ['a'], nested: { data: [{ id: 2 }], count: 1 }, when: new Date(0) },
    [],
    [1],
    'text',
    null,
  ]

  for (const answer of answers)
    for (const scalars of ['string', 'number'] as const)
      expect(writeAnswer(answer, scalars)).toBe(writeJson(answer, scalars))
})
