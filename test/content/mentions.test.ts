import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { writeMention } from '../../src/resources/content/text/mention-syntax.ts'
import {
  listMentionedUids,
  listMentions,
  mentionOnly,
  nameMentions,
  parseText,
  settleMentions,
} from '../../src/resources/content/text/render.ts'

function render(text: string, ids?: ReadonlyMap<string, number>) {
  const parsed = parseText(text, ids)
  const { html, plain } = settleMentions(parsed, () => true)
  return { text: parsed.text, mentions: parsed.mentions, inHtml: listMentions(html), plain }
}

test.each([
  ['escaped brackets', String.raw`[Ann \[ops\]](@u2)`, '@Ann [ops]'],
  ['balanced brackets', '[Ann [ops]](@u2)', '@Ann [ops]'],
  ['brackets in brackets', '[[[Ann]] [a [b]]](@u2)', '@[[Ann]] [a [b]]'],
  ['an escaped bracket alone', String.raw`[Ann \] b](@u2)`, '@Ann ] b'],
  ['a bracket that opens before it', '[see [Ann](@u2)', '[see @Ann'],
  ['Markdown', '[*Ann* _b_ ~~c~~ & d](@u2)', '@*Ann* _b_ ~~c~~ & d'],
  ['an escaped star', String.raw`[Ann \*](@u2)`, '@Ann *'],
  ['a backslash', String.raw`[Ann \o/](@u2)`, String.raw`@Ann \o/`],
  ['parentheses', '[Ann (ops)](@u2)', '@Ann (ops)'],
  ['less than', '[Ann <3](@u2)', '@Ann <3'],
  ['a URL', '[www.ann.de a@b.cd](@u2)', '@www.ann.de a@b.cd'],
  ['angle brackets around the id', '[Ann](<@u2>)', '@Ann'],
  ['blanks around the id', '[Ann]( @u2\t)', '@Ann'],
  ['a title', '[Ann](@u2 "An (n) [b]")', '@Ann'],
])('a mention may have %s', (_name, text, plain) => {
  expect(render(`*a* ${text} b`)).toEqual({ text: `*a* ${text} b`, mentions: [2], inHtml: [2], plain: `a ${plain} b` })
  expect(nameMentions(`a ${text} b`)).toBe(`a ${plain} b`)
})

test.each([
  '[Ann ] b](@u2)',
  String.raw`\[Ann](@u2)`,
  String.raw`[Ann\](@u2)`,
  String.raw`[Ann](\@u2)`,
  '[Ann](&#64;u2)',
  '[ ](@u2)',
  '[Ann](@)',
  '[Ann](@2)',
  '[Ann](@a b)',
  '[Ann](@a(b)',
  '[Ann](@u2 b)',
  '[Ann](@u2"b")',
  '[Ann](<@u2)',
  '[Ann][@u2]',
  '[An\nn](@u2)',
  '`[Ann](@u2)`',
  '[`Ann](@u2)`',
  '<http://a.b/[Ann](@u2)>',
  'http://a.b/[Ann](@u2)',
  '![see [Ann](@u2)](http://a.b)',
  '[see](http://a.b "[Ann](@u2)")',
  `[${'a'.repeat(257)}](@u2)`,
  `[Ann](@${'a'.repeat(257)})`,
])('nobody is mentioned by %j', text => {
  const parsed = parseText(
    text,
    new Map([
      ['a b', 3],
      ['a(b', 3],
    ]),
  )

  expect(parsed.mentions).toEqual([])
  expect(listMentions(parsed.html)).toEqual([])
})

test('of nested links the innermost is one, as in CommonMark', () => {
  expect(render('[see [Ann](@u2) now](@u3)')).toMatchObject({ mentions: [2], plain: '[see @Ann now](@u3)' })
  expect(render('[see [Ann](@u2)](http://a.b)')).toMatchObject({ mentions: [2] })
  expect(render('[see [a](http://a.b) now](@u3)').mentions).toEqual([])
})

test.each([
  ['ann[ops]', '[Ann](@ann[ops])'],
  ['ann]', '[Ann](@ann])'],
  ['ann(ops)', '[Ann](@ann(ops))'],
  ['ann)', String.raw`[Ann](@ann\))`],
  ['ann)', '[Ann](<@ann)>)'],
  ['a&b', '[Ann](@a&amp;b)'],
  ['<ann>', String.raw`[Ann](<@\<ann\>>)`],
  ['a@b.cd', '[Ann](@a@b.cd)'],
  ['user:1', '[Ann](@user:1 "Ann")'],
  ['jörg', '[Jörg [a]](<@jörg>)'],
])('the uid %j may be written as in %j', (uid, text) => {
  const { text: stored, mentions, plain } = render(`a ${text}, ${text}`, new Map([[uid, 7]]))

  expect(listMentionedUids(text)).toEqual([uid])
  expect(mentions).toEqual([7])
  // In its usual form, which every client reads.
  const usual = text.replace(/\(.*\)$/, '(@u7)')
  expect(stored).toBe(`a ${usual}, ${usual}`)
  expect(plain).not.toContain('(')
})

test('uids become ids wherever mentions are, and nowhere else', () => {
  const text = [
    '`[a](@ann)` [b](@ann) \\[c](@ann) [d](http://e.f "(@ann)")',
    '> - [g](@ann)\n> - ![h [i](@ann)](http://j.k)',
    '|l|\n|-|\n|[m](@n\\|o) (@ann)|',
    '```\n[p](@ann)\n```\n(@ann) [q](@ann',
  ].join('\n\n')

  const { text: stored } = parseText(
    text,
    new Map([
      ['ann', 7],
      ['n|o', 8],
    ]),
  )

  expect(stored).toBe(
    text
      .replace('[b](@ann)', '[b](@u7)')
      .replace('[g](@ann)', '[g](@u7)')
      .replace('[i](@ann)', '[i](@u7)')
      .replace('[m](@n\\|o)', '[m](@u8)'),
  )
})

test('what composes a mention of a person writes one, whatever the name', () => {
  const label = fc.oneof(
    fc.string({
      unit: fc.constantFrom(...String.raw`ab[]()\<>*_~&;!#@"'|. `, '`', 'ö', '👍', 'www.', 'http://'),
      maxLength: 20,
    }),
    fc.string({ unit: 'grapheme', maxLength: 20 }),
  )
  fc.assert(
    fc.property(
      label.filter(text => text.trim() !== '' && !/[\0\r\n]/.test(text)),
      name => {
        const { mentions, inHtml, plain } = render(`a ${writeMention({ id: 2, label: name })} b`)

        expect({ mentions, inHtml, plain }).toEqual({ mentions: [2], inHtml: [2], plain: `a @${name} b` })
      },
    ),
    { numRuns: 5_000 },
  )
})

test('text of an agent mentions the asker alone, however mentions are nested and written', () => {
  const asker = { id: 2, uid: 'Ann' }
  const piece = fc.constantFrom(
    ...'[ ] ( ) < > ` \\ a @ [a](@u2) [b](@u3) [c](@eve) [d](<@ann>) (@u3) ](@u3) \n | " [e [f](@u3)](@u3)'.split(' '),
    ' ',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), pieces => {
      const text = mentionOnly(pieces.join(''), asker)

      const { mentions } = parseText(
        text,
        new Map([
          ['eve', 4],
          ['ann', 2],
          ['Ann', 2],
        ]),
      )

      expect(mentions.filter(user => user !== 2)).toEqual([])
    }),
    { numRuns: 5_000 },
  )
  expect(mentionOnly('[Ann](@ann) [Ben [x]](@u3) `[Ben](@u3)`', asker)).toBe('[Ann](@ann) Ben [x] `[Ben](@u3)`')
})
