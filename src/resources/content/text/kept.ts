import type { Rendering } from './render.ts'

/** The stored form of a rendering: where the rest can be derived from the text, it is null. */
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
