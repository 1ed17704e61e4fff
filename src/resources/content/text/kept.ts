import type { Rendering } from './render.ts'

/** What is kept of a rendering: of most texts the text alone, because the rest follows from it, and is null. */
export function toKept({ text, html, plain }: Rendering): Rendering {
  return { text, html: html === paragraph(text) ? null : html, plain: plain === text ? null : plain }
}

export function htmlOf({ text, html }: Rendering): string | null {
  return html ?? paragraph(text)
}

export function plainOf({ text, plain }: Rendering): string | null {
  return plain ?? text
}

function paragraph(text: string | null): string | null {
  return text === null ? null : `<p>${text}</p>`
}
