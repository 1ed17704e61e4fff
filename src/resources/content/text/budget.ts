import type { Env, MarkdownIt, StateBlock, StateInline } from 'markdown-it'

/** The most nested quotes and lists; a list counts twice. */
const depthLimit = 16

/**
 * The most steps of the parser, and tokens, for one text. 64 KB of prose take 4,000; 12,000 take up to 30 ms
 * (measured).
 */
const stepLimit = 12_000

/**
 * Bounds the cost of a text: lists in quotes in lists, ten thousand rows, links in brackets in brackets. Beyond the
 * limits, text is shown literally; the parser alone would drop what is nested too deeply.
 */
export function limitWork(markdown: MarkdownIt): void {
  // The first rule of every step, also of those that only check whether a block ends.
  markdown.block.ruler.before('table', 'limit', limitBlocks, { alt: ['paragraph', 'blockquote', 'list'] })
  markdown.inline.ruler.before('text', 'limit', limitInline)
}

function limitBlocks(state: StateBlock, startLine: number, endLine: number, silent: boolean): boolean {
  const isSpent = takeStep(state.env) || state.tokens.length > stepLimit
  if (silent) return isSpent
  if (!isSpent && state.level < depthLimit) return false
  state.push('paragraph_open', 'p', 1)
  const inline = state.push('inline', '', 0)
  inline.content = state.getLines(startLine, endLine, state.blkIndent, false).trim()
  inline.children = []
  state.push('paragraph_close', 'p', -1)
  state.line = endLine
  return true
}

function limitInline(state: StateInline, silent: boolean): boolean {
  const isSpent = takeStep(state.env) || state.tokens.length > stepLimit
  if (!isSpent) return false
  if (!silent) state.pending += state.src.slice(state.pos, state.posMax)
  state.pos = state.posMax
  return true
}

/** Counts a step of this text; true when the limit is exceeded. */
function takeStep(env: Env): boolean {
  const steps = ((env.steps as number | undefined) ?? 0) + 1
  env.steps = steps
  return steps > stepLimit
}
