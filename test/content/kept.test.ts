import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { htmlOf, parseText, plainOf, settleMentions, toKept } from '../../src/resources/content/text/render.ts'

const render = (text: string) => settleMentions(parseText(text), () => true)

test('what is not kept of a rendering follows from the text', () => {
  const pieces = fc.constantFrom(
    'a',
    ' b',
    '\n',
    '&',
    '<',
    '**',
    '_c_',
    '<p>',
    '</p>',
    'https://d.ef',
    '[G](@u1)',
    '\\',
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 6 }), parts => {
      const rendering = render(parts.join(''))
      const kept = toKept(rendering)
      expect({ text: kept.text, html: htmlOf(kept), plain: plainOf(kept) }).toEqual(rendering)
    }),
    { numRuns: 5_000 },
  )
})

test('of a text without anything to render only the text is kept', () => {
  expect(toKept(render('Has anybody seen it?'))).toEqual({ text: 'Has anybody seen it?', html: null, plain: null })
})

test.each(['a & b', 'a\nb', '**a**', 'see https://a.bc', '# a'])('of %j the HTML is kept as well', text => {
  expect(toKept(render(text)).html).toBe(render(text).html)
})
