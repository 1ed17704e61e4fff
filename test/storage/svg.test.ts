import { expect, test } from 'vitest'
import { readSvgSize } from '../../src/media/svg.ts'

test.each([
  ['<svg width="40" height="30">', 40, 30],
  ["<svg\n  xmlns='http://www.w3.org/2000/svg'\n  height = '30px' width='40.4'/>", 40, 30],
  ['<svg width="1in" height="2.54cm">', 96, 96],
  ['<svg viewBox="0 0 24 12">', 24, 12],
  ['<svg viewBox="-1,-1,24,12" width="100%" height="100%">', 24, 12],
  ['<svg viewBox="0 0 24 12" width="48">', 48, 24],
  ['<svg viewBox="0 0 24 12" height="6">', 12, 6],
  ['<svg width="4.5pc" height=".5in">', 72, 48],
  ['<svg>', 300, 150],
  ['<svg/>', 300, 150],
  ['<svg:svg xmlns:svg="http://www.w3.org/2000/svg" width="4" height="3">', 4, 3],
  ['\uFEFF<?xml version="1.0"?>\n<!-- <svg width="9" height="9"> -->\n<svg width="4" height="3">', 4, 3],
  ['<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x.dtd"><svg width="4" height="3">', 4, 3],
  ['<!DOCTYPE svg [ <!ENTITY a "<svg>"> ]>\n<svg width="4" height="3">', 4, 3],
  ['<svg stroke-width="9" width="4" height="3">', 4, 3],
])('%s says how large it is', (head, width, height) => {
  expect(readSvgSize(head)).toEqual({ width, height })
})

test.each([
  ['nothing', ''],
  ['text', 'svg'],
  ['a page', '<!doctype html><html><svg width="4" height="3"></svg>'],
  ['another element', '<svgs width="4" height="3">'],
  ['a comment without an end', '<!-- <svg width="4" height="3">'],
  ['a tag without an end', '<svg width="4" height="3"'],
  ['no width', '<svg width="0" height="3">'],
  ['more width than is drawn', '<svg width="32768" height="3">'],
])('%s is no SVG', (_what, head) => {
  expect(readSvgSize(head)).toBeNull()
})

test.each(['<?', '<!--', '<!DOCTYPE [', '<!DOCTYPE>', '<svg ', '<svg width="', ' '])(
  '64 KiB of %j take no time',
  piece => {
    const startedMs = performance.now()

    expect(readSvgSize(piece.repeat(65_536 / piece.length))).toBeNull()

    expect(performance.now() - startedMs).toBeLessThan(1_000)
  },
)

test.each(['width', 'height', 'viewBox'])('64 KiB of digits as a %s take no time', name => {
  const startedMs = performance.now()

  expect(readSvgSize(`<svg ${name}="${'1'.repeat(60_000)}!">`)).toEqual({ width: 300, height: 150 })

  expect(performance.now() - startedMs).toBeLessThan(1_000)
})
