import type { DraftLine } from '../format.ts'

/** The longest part of a message that a reply to it quotes. */
const quotedLength = 120

interface Said {
  by: string
  text: string
}

/** The messages of a chat that replies in threads quote: chats here have no threads. */
export class Threads {
  readonly #said = new Map<string, Said>()

  add(id: string, said: Said): void {
    this.#said.set(id, said)
  }

  /** A reply with the beginning of the message that it answers before it. */
  quote(parent: string | null, text: string): string {
    const said = parent === null ? undefined : this.#said.get(parent)
    if (said === undefined) return text
    const [line = ''] = said.text.split('\n', 1)
    const cut = line.length > quotedLength ? `${Array.from(line).slice(0, quotedLength).join('')}…` : line
    return `> ${said.by}: ${cut}\n\n${text}`
  }
}

/** The uid of a user with an id elsewhere: a uid is not digits alone, and not what mentions name an id by. */
export function toUid(id: string): string {
  return /^u?\d+$/i.test(id) ? `user-${id}` : id
}

/** Attaches what is kept elsewhere to a message. */
export function* attach(
  message: { id: string; app: string; created_at: string; created_by: string },
  files: readonly { name: string; mediaType: string; size: number; provider: string; link: string }[],
): Generator<DraftLine> {
  const { app, created_at, created_by } = message
  for (const [at, { name, mediaType: media_type, size, provider, link }] of files.entries()) {
    const id = `${message.id}/${at}`
    const made = { created_at, created_by }
    yield { type: 'blob', id, name, media_type, size, ...made, external: { provider, link } }
    yield { type: 'file', id, app, item: message.id, name, versions: [{ blob: id, ...made }], ...made }
  }
}
